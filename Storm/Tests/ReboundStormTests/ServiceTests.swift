import Combine
import Rebound
import ReboundStorm
import Testing

@Suite("A service of a scenario")
struct ServiceTests {
  private func scenario(_ service: Service, rate: Double = 50, faults: [ServiceFault] = [], duration: Double = 60)
    -> Scenario
  {
    Scenario(arrivals: .poisson(perSecond: rate), service: service, faults: faults, duration: duration)
  }

  @Test func answersTheLastFirstIfItsQueueIsOneOfLastInFirstOut() throws {
    // Ten times what it bears: whoever came last is answered soon, whoever came first is not answered at all.
    let fifo = Service(concurrency: 1, time: .constant(0.2))
    var lifo = fifo
    lifo.queue = .lifo
    let first = try Storm.playCalls(scenario(fifo))
    let last = try Storm.playCalls(scenario(lifo))
    #expect(last.latency.percentile(0.5) < 0.4)
    #expect(first.latency.percentile(0.5) > 20)
  }

  @Test func refusesWhoHasWaitedTooLongIfItsDelayIsControlled() throws {
    var service = Service(concurrency: 1, time: .constant(0.025))
    service.queue = .controlledDelay(target: 0.1, interval: 0.5)
    let storm = try Storm.playCalls(scenario(service, rate: 80))
    #expect(storm.latency.percentile(0.99) < 0.7)
    #expect(storm.givenUpShare > 0.3)
  }

  @Test func paysForRefusalsWithWork() throws {
    var service = Service(concurrency: 2, queueLimit: 10, time: .constant(0.02))
    let free = try Storm.playCalls(scenario(service, rate: 400))
    service.refusalCost = 0.3
    let costly = try Storm.playCalls(scenario(service, rate: 400))
    #expect(Double(free.series.served.total) > 0.95 * 100 * 60)
    #expect(costly.series.served.total < free.series.served.total / 2)
  }

  @Test func isSlowWhileItIsCold() throws {
    var service = Service(concurrency: 10, time: .constant(0.05))
    let outage = [ServiceFault.outage(from: 10, to: 20)]
    let warm = try Storm.playCalls(scenario(service, faults: outage))
    service.coldFactor = 10
    service.warmUp = 20
    let cold = try Storm.playCalls(scenario(service, faults: outage))
    #expect(cold.latency.percentile(0.9) > 3 * warm.latency.percentile(0.9))
  }

  @Test func answersFewerRightAfterAnOutageIfItStartsSlowly() throws {
    var service = Service(concurrency: 10, time: .constant(0.01))
    service.slowStart = 0.1
    service.warmUp = 20
    let storm = try Storm.playCalls(scenario(service, faults: [.outage(from: 10, to: 20)]))
    let served = storm.series.served
    #expect(served[20..<24].total < 100)
    #expect(served[45..<49].total > 140)
  }

  @Test func standsStillInPauses() throws {
    var service = Service(concurrency: 10, time: .constant(0.01))
    service.pauseEvery = 10
    service.pauseLength = 1
    let storm = try Storm.playCalls(scenario(service))
    #expect(storm.latency.percentile(0.5) < 0.02)
    #expect(storm.latency.percentile(0.99) > 0.8)
  }

  @Test func answersAsManyAsItsPausesLet() throws {
    var service = Service(replicas: 2, concurrency: 10, time: .constant(0.05))
    service.pauseEvery = 10
    service.pauseLength = 2
    #expect(abs(service.capacity - 320) < 1e-9)
    let storm = try Storm.playCalls(scenario(service, rate: 350))
    #expect((310...330).contains(storm.series.served[20..<40].total / 20))
    #expect(storm.secondsToRecover == nil)
    #expect(!storm.isMetastable)
  }

  @Test func becomesSlowerTheMoreWaitIfItCollapses() throws {
    var service = Service(concurrency: 1, queueLimit: 50, time: .constant(0.01))
    let steady = try Storm.playCalls(scenario(service, rate: 120))
    service.collapse = 0.05
    let collapsing = try Storm.playCalls(scenario(service, rate: 120))
    #expect(collapsing.series.served.total < steady.series.served.total / 2)
  }

  @Test func waitsForItsDependencyAndFailsWithIt() throws {
    var service = Service(concurrency: 10, time: .constant(0.01))
    service.dependencies = [Service(concurrency: 10, time: .constant(0.05))]
    let storm = try Storm.playCalls(scenario(service, faults: [.dependencyOutage(from: 10, to: 20)]))
    #expect(abs(storm.latency.percentile(0.5) - 0.06) < 0.005)
    #expect(storm.series.served[11..<19].allSatisfy { $0 == 0 })
    #expect(storm.recovers(within: .seconds(2)))
  }

  @Test func asksAnyNumberOfDependenciesOfAnyDepthEachWithChanceOfItsOwn() throws {
    let leaf = Service(concurrency: 10, time: .exponential(mean: 0.01))
    var deep = leaf
    for _ in 0..<30 {
      var outer = leaf
      outer.dependencies = [deep]
      deep = outer
    }
    #expect(try Storm.playCalls(scenario(deep, rate: 5)).givenUpShare == 0)

    // The ninth took as long as the first one of the first, each time.
    var first = leaf
    first.dependencies = [leaf]
    var service = Service(concurrency: 10, time: .constant(0.000_01))
    service.dependencies =
      [first] + Array(repeating: Service(concurrency: 10, time: .constant(0.000_01)), count: 7) + [leaf]
    let latency = try Storm.playCalls(scenario(service, rate: 5, duration: 2_000)).latency
    // Of three times that hang on nothing the longest hundredth is this; of two that are the same it is longer.
    #expect(abs(latency.percentile(0.99) - 0.084) < 0.004, "\(latency.percentile(0.99))")
  }

  @Test func answersNoMoreThanItHasPlacesForWhileItsDependencyAsksAnother() throws {
    var middle = Service(concurrency: 100, time: .constant(0.04))
    middle.dependencies = [Service(concurrency: 100, time: .constant(0.2))]
    var service = Service(concurrency: 10, time: .constant(0.01))
    service.dependencies = [middle]
    #expect(abs(service.capacity - 40) < 1e-9)
    let storm = try Storm.playCalls(scenario(service, rate: 100))
    #expect(storm.series.served[30] == 40)
    #expect(!storm.isMetastable)
  }

  @Test func worksForNobodyIfItDoesNotNoticeWhoHasGone() throws {
    var service = Service(concurrency: 1, time: .constant(0.1))
    func play(_ service: Service) throws -> Storm {
      try Storm.play(scenario(service, rate: 20)) { _ in
        try Pipeline("impatient") { Timeout(attempt: .milliseconds(500)) }
      }
    }
    let noticing = try play(service)
    service.noticesAbandoned = false
    let blind = try play(service)
    #expect(noticing.wastedShare < 0.85)
    #expect(blind.wastedShare > 0.95)
  }

  @Test(arguments: [ServiceFault.packetLoss(share: 0.5, from: 10, to: 20), .partition(share: 0.5, from: 10, to: 20)])
  func losesWhatTheNetworkLoses(fault: ServiceFault) throws {
    var scenario = scenario(Service(concurrency: 10, time: .constant(0.01)), faults: [fault])
    scenario.processes = 10
    let storm = try Storm.play(scenario) { _ in try Pipeline("impatient") { Timeout(total: .seconds(1)) } }
    let lost = storm.series.givenUp[11..<20].total
    #expect((150...300).contains(lost))
    #expect(storm.series.givenUp[22...].allSatisfy { $0 == 0 })
  }

  @Test func slowsDownAsFaultsSay() throws {
    let service = Service(replicas: 2, concurrency: 10, time: .constant(0.01), balancing: .roundRobin)
    let brownout = ServiceFault.brownout(factor: 10, from: 0, to: 60)
    let brown = try Storm.playCalls(scenario(service, faults: [brownout]))
    #expect(abs(brown.latency.percentile(0.5) - 0.1) < 0.01)
    let slow = try Storm.playCalls(scenario(service, faults: [.slowReplica(1, factor: 10, from: 0, to: 60)]))
    #expect(abs(slow.latency.percentile(0.25) - 0.01) < 0.001)
    #expect(abs(slow.latency.percentile(0.75) - 0.1) < 0.01)
  }
}

@Suite("The arrivals of a scenario")
struct ArrivalsTests {
  private let service = Service(concurrency: 100, time: .constant(0.01))

  @Test(
    arguments: [
      Arrivals.periodic(clients: 1_000, every: 10), .constant(perSecond: 100), .poisson(perSecond: 100),
      .bursts(perSecond: 10, size: 10), .daily(perSecond: 100, amplitude: 0.8, period: 20),
      .closed(clients: 100, thinkTime: .exponential(mean: 0.99)),
    ]
  )
  func comeAsOftenAsTheirRateSays(arrivals: Arrivals) throws {
    let storm = try Storm.playCalls(Scenario(arrivals: arrivals, service: service, duration: 100))
    let count = Double(storm.series.begun.total)
    #expect(abs(count - 10_000) < 500, "\(count)")
  }

  @Test func goUpAndDownWithTheTimeOfDay() throws {
    let arrivals = Arrivals.daily(perSecond: 100, amplitude: 0.8, period: 40)
    let begun = try Storm.playCalls(Scenario(arrivals: arrivals, service: service, duration: 40)).series.begun
    #expect(begun[8..<12].total > 4 * begun[28..<32].total)
  }
}

@Suite("A scenario that makes no sense")
struct InvalidScenarioTests {
  @Test func isRefusedWithWhatToGiveInstead() throws {
    var scenario = Scenario(arrivals: .poisson(perSecond: 1), service: Service(concurrency: 0, time: .constant(1)))
    let refusal = #expect(throws: InvalidScenario.self) { try Storm.playCalls(scenario) }
    #expect(refusal?.description == "Scenario: service.concurrency is 0. Give 1 to 1000000.")
    scenario.service.concurrency = 1
    scenario.faults = [.slowReplica(1, factor: 2, from: 0, to: 1)]
    #expect(throws: InvalidScenario.self) { try Storm.playCalls(scenario) }
  }

  @Test func isRefusedWithWhereItStands() throws {
    var service = Service(concurrency: 1, time: .constant(1))
    service.dependencies = [service, Service(concurrency: 0, time: .constant(1))]
    let scenario = Scenario(arrivals: .poisson(perSecond: 1), service: service)
    let refusal = #expect(throws: InvalidScenario.self) { try scenario.validate() }
    #expect(refusal?.setting == "service.dependencies.1.concurrency")
  }

  @Test(arguments: [
    Arrivals.constant(perSecond: 1e10), .poisson(perSecond: 1e12), .periodic(clients: 1_000, every: 1e-9),
  ])
  func isRefusedIfMoreRequestsComeThanThereAreMoments(arrivals: Arrivals) {
    let scenario = Scenario(arrivals: arrivals, service: Service(concurrency: 1, time: .constant(1)))
    #expect(#expect(throws: InvalidScenario.self) { try scenario.validate() }?.setting == "arrivals")
  }

  @Test(arguments: [Distribution.either(share: 2, 5, otherwise: 1), .uniform(from: 10, to: -2)])
  func isRefusedIfClientsThinkForATimeThatThereIsNot(thinkTime: Distribution) {
    let arrivals = Arrivals.closed(clients: 5, thinkTime: thinkTime)
    let scenario = Scenario(arrivals: arrivals, service: Service(concurrency: 1, time: .constant(1)))
    #expect(#expect(throws: InvalidScenario.self) { try scenario.validate() }?.setting == "arrivals.thinkTime")
  }

  @Test(
    arguments: [
      (-1, 0.1, "target"), (.nan, 0.1, "target"), (0.01, -1, "interval"), (0.01, .infinity, "interval"),
    ] as [(Double, Double, String)]
  )
  func isRefusedIfItsQueueControlsADelayThatThereIsNot(target: Double, interval: Double, setting: String) {
    let queue = Service.Queue.controlledDelay(target: target, interval: interval)
    let service = Service(concurrency: 1, queue: queue, time: .constant(1))
    let scenario = Scenario(arrivals: .poisson(perSecond: 1), service: service)
    #expect(#expect(throws: InvalidScenario.self) { try scenario.validate() }?.setting == "service.queue.\(setting)")
  }

  @Test(arguments: [Double.infinity, 1e19])
  func isRefusedIfAFaultHasNoEndThatCanBeCounted(end: Double) throws {
    let service = Service(concurrency: 1, time: .constant(1))
    let scenario = Scenario(arrivals: .poisson(perSecond: 1), service: service, faults: [.outage(from: 5, to: end)])
    #expect(#expect(throws: InvalidScenario.self) { try Storm.playCalls(scenario) }?.setting == "faults")
  }
}
