import Combine
import Rebound
import ReboundLoadBalancing
import ReboundStorm

/// What policies are worth for which the great outage has no place, as a table of their own, each with and without.
enum Comparisons {
  /// - Parameter note: Is told how far the plays are.
  static func text(seed: UInt64, noting note: (String) -> Void) throws -> String {
    let (balancing, queueing) = (Self.balancing, Self.queueing)
    var number = 0
    func play(_ row: Row, _ scenario: Scenario) throws -> Storm {
      number += 1
      note("[\(number)/\(balancing.count + queueing.count)] \(row.name)")
      return try row.play(scenario)
    }
    return try """
    Ten replicas, \(replicas(seed).service.capacity) requests a second at most and half of that asked for, by 200 \
    processes. For a minute one replica is ten times as slow and another one is out. Who is not balanced goes to any:

    \(StormTable(balancing.map { try play($0, replicas(seed)) }).text)

    One service at its limit for a minute, behind one bulkhead with a long queue. Half of the calls give up after 0.3 s, \
    half after 3 s; the queue lets in:

    \(StormTable(queueing.map { try play($0, patience(seed)) }).text)

    """
  }

  // MARK: Replicas

  static func replicas(_ seed: UInt64) -> Scenario {
    let service = Service(replicas: 10, concurrency: 4, queueLimit: 100, time: .exponential(mean: 0.05))
    var scenario = Scenario(arrivals: .poisson(perSecond: 400), service: service, networkDelay: 0.002, seed: seed)
    scenario.processes = 200
    scenario.faults = [.slowReplica(3, factor: 10, from: 20, to: 80), .replicaOutage(7, from: 20, to: 80)]
    return scenario
  }

  private enum Choice { case any, byClient, byProbes }

  static var balancing: [Row] {
    [
      row("any replica", .any, retries: false, hedges: false),
      row("any, retries", .any, retries: true, hedges: false),
      row("any, retries and hedges", .any, retries: true, hedges: true),
      row("balanced", .byClient, retries: false, hedges: false),
      row("balanced, retries", .byClient, retries: true, hedges: false),
      row("balanced, retries and hedges", .byClient, retries: true, hedges: true),
      row("balanced by probes", .byProbes, retries: false, hedges: false),
      row("balanced by probes, retries", .byProbes, retries: true, hedges: false),
      row("balanced by probes, retries and hedges", .byProbes, retries: true, hedges: true),
    ]
  }

  private static func row(_ name: String, _ choice: Choice, retries: Bool, hedges: Bool) -> Row {
    Row(name) { scenario in
      try Storm.playReplicas(scenario, name: name, answer: ()) { replicas, process in
        let pipeline = try pipeline(retries: retries, hedges: hedges, random: process.random)
        let balancer: LoadBalancer<Int>
        switch choice {
        case .any:
          let random = process.random
          let any = Deferred {
            replicas.call(to: Int(random.next() * Double(replicas.numbers.count)))
          }
          return pipeline.map(any.protected) ?? any.eraseToAnyPublisher()
        case .byClient:
          balancer = try LoadBalancer("service", among: replicas.numbers, random: process.random)
        case .byProbes:
          balancer = try LoadBalancer(
            "service",
            among: replicas.numbers,
            random: process.random,
            probe: replicas.probe(of:)
          )
        }
        guard let pipeline else {
          return Deferred { balancer.makeCall().publisher(replicas.call(to:)) }.eraseToAnyPublisher()
        }
        return pipeline.publisher(among: balancer, replicas.call(to:)).eraseToAnyPublisher()
      }
    }
  }

  private static func pipeline(retries: Bool, hedges: Bool, random: RandomSource) throws -> Pipeline<Void>? {
    guard retries || hedges else { return nil }
    let budget = try RetryBudget.ratio(0.2, window: .seconds(10), floor: 1)
    let backoff = Backoff.exponential(from: .seconds(0.05), multiplier: 2, upTo: .seconds(1), jitter: .full)
    let retry = try RetryPolicy<any Error>(maxRetries: 3, backoff: backoff, random: random)
    let hedge = try HedgePolicy<any Error>(delay: .percentile(0.98, of: LatencyRecorder()))
    return try Pipeline("service") {
      Retry(retry, budget: budget)
      if hedges { Hedge(hedge, budget: budget) }
    }
  }

  // MARK: Deadlines

  static func patience(_ seed: UInt64) -> Scenario {
    let service = Service(concurrency: 20, time: .exponential(mean: 0.05))
    var scenario = Scenario(arrivals: .poisson(perSecond: 300), service: service, networkDelay: 0.002, seed: seed)
    scenario.processes = 2
    scenario.faults = [.brownout(factor: 1.5, from: 20, to: 80)]
    return scenario
  }

  static var queueing: [Row] {
    [
      row("whoever came first", .fifo), row("whoever came last", .lifo),
      row("whose deadline comes first", .earliestDeadline),
    ]
  }

  private static func row(_ name: String, _ order: BulkheadPolicy.Order) -> Row {
    Row(name) { scenario in
      let policy = try BulkheadPolicy(maxConcurrent: 20, maxQueue: 10_000, order: order)
      let bulkhead = Bulkhead("service", policy: policy)
      return try Storm.play(scenario, name: name) { process in
        try Pipeline("service") {
          Timeout(total: .seconds(process.number == 0 ? 0.3 : 3))
          bulkhead
        }
      }
    }
  }
}
