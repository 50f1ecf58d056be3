import Combine
import Rebound
import ReboundLoadBalancing
import ReboundStorm
import Testing

@Suite("Clients that pick their replica")
struct ReplicasTests {
  private static var scenario: Scenario {
    let service = Service(replicas: 4, concurrency: 4, queueLimit: 50, time: .exponential(mean: 0.05))
    var scenario = Scenario(arrivals: .poisson(perSecond: 100), service: service, networkDelay: 0.002, duration: 40)
    scenario.faults = [.replicaOutage(2, from: 10, to: 30)]
    return scenario
  }

  private func balanced(_ scenario: Scenario, probed: Bool = false) throws -> Storm {
    try Storm.playReplicas(scenario, name: "balanced", answer: ()) { replicas, process in
      let balancer = try LoadBalancer(
        "service",
        among: replicas.numbers,
        random: process.random,
        probe: probed ? replicas.probe(of:) : nil
      )
      return Deferred { balancer.makeCall().publisher(replicas.call(to:)) }.eraseToAnyPublisher()
    }
  }

  @Test func loseAQuarterOfTheirCallsToAReplicaThatIsOutIfTheyGoToAny() throws {
    let storm = try Storm.playCalls(Self.scenario)
    let during = storm.series.givenUp[10..<30].total
    #expect((400...600).contains(during), "\(during)")
    #expect(storm.series.givenUp[..<10].total == 0)
    #expect(storm.series.givenUp[31...].total == 0)
  }

  @Test(arguments: [false, true])
  func loseHardlyAnyIfTheyAreBalanced(probed: Bool) throws {
    let storm = try balanced(Self.scenario, probed: probed)
    let during = storm.series.givenUp[10..<30].total
    #expect(during < 20, "\(during)")
    // The replica is used again once it is back.
    #expect(try balanced(Self.scenario, probed: probed) == storm)
  }

  @Test(arguments: [false, true])
  func leaveASlowReplicaAlone(probed: Bool) throws {
    var scenario = Self.scenario
    scenario.faults = [.slowReplica(1, factor: 20, from: 0, to: 40)]
    let any = try Storm.playCalls(scenario)
    let storm = try balanced(scenario, probed: probed)
    #expect(any.latency.percentile(0.95) > 0.5)
    #expect(storm.latency.percentile(0.95) < 0.25, "\(storm.latency.percentile(0.95))")
  }

  @Test func hearOfAnOutageWhenTheyWaitAtTheReplica() throws {
    var scenario = Self.scenario
    scenario.service = Service(replicas: 2, concurrency: 1, time: .constant(100))
    scenario.arrivals = .constant(perSecond: 1)
    scenario.faults = [.replicaOutage(0, from: 20, to: 21)]
    let storm = try Storm.playReplicas(scenario, name: "first", answer: ()) { replicas, _ in replicas.call(to: 0) }
    #expect(storm.series.givenUp[20..<22].total >= 19)
  }

  @Test func findAReplicaThatIsNotThereOut() throws {
    let storm = try Storm.playReplicas(Self.scenario, name: "none", answer: ()) { replicas, _ in
      #expect(replicas.numbers == [0, 1, 2, 3])
      return replicas.call(to: 4)
    }
    #expect(storm.series.succeeded.total == 0)
    let probes = try Storm.playReplicas(Self.scenario, name: "none", answer: ()) { replicas, _ in
      replicas.probe(of: -1).map { _ in }.eraseToAnyPublisher()
    }
    #expect(probes.series.succeeded.total == 0)
  }

  @Test func refuseAScenarioWithAnOutageOfAReplicaThatIsNotThere() {
    var scenario = Self.scenario
    scenario.faults = [.replicaOutage(4, from: 1, to: 2)]
    #expect(throws: InvalidScenario.self) { try scenario.validate() }
  }
}
