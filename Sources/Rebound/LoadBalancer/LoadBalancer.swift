import Combine
import StreamSupport

/// Picks the replica of a service that an attempt goes to: one that is not overloaded and answers quickly, and for a retry
/// or a hedge another one than before.
///
///     let replicas = try LoadBalancer("weather", among: ["a.example.com", "b.example.com", "c.example.com"])
///     let forecast = try await weather.run(among: replicas) { host in try await fetch(from: host) }
///     let forecasts = weather.publisher(among: replicas) { host in forecastPublisher(from: host) }
///
/// It goes by what the client itself sees of each replica: requests in flight, latencies and failures. Given a probe, it asks
/// replicas for their loads besides, a few for each attempt, and goes by their last answers, too: what one client sees is
/// little where there are many.
///
/// Of the candidates, those with more requests in flight than is usual are hot. Among the others it picks the one with the
/// least latency; if all are hot, the one with the fewest requests. A failure counts as a long latency, and is forgotten
/// after a while, so that a replica which has come back is tried again. There is always one to pick: that all of them are
/// down is for a breaker to see.
///
/// One balancer is shared by everything that calls the same service.
///
/// Source: Wydrowski, Kleinberg, Rumble, Archer, "Load is not what you should balance: Introducing Prequal", NSDI 2024. Unlike
/// there, only the last answer of each replica is kept, and what the client has seen of a replica counts beside what that says.
public final class LoadBalancer<Replica: Hashable & Sendable>: Sendable {
  /// Asks a replica for its load, once for each subscription.
  public typealias Probe = @Sendable (Replica) -> AnyPublisher<ReplicaLoad, any Error>

  /// What is balanced, for its gauge.
  public let name: String
  /// How it picks.
  public let policy: LoadBalancerPolicy
  let speaksAgainst: @Sendable (any Error) -> Bool
  private let probe: Probe?
  private let random: RandomSource
  private let state: Locked<LoadBalancerMachine<Replica>>
  /// The last probe of each replica, and when it was sent.
  private let probes = Locked<[Replica: (sent: Duration, subscription: AnyCancellable)]>([:])

  /// Makes a balancer that knows nothing of its replicas.
  ///
  /// - Parameters:
  ///   - name: What is balanced.
  ///   - replicas: Where attempts may go; at least one.
  ///   - policy: How it picks.
  ///   - random: Picks among equals, and whom to probe.
  ///   - speaksAgainst: Which errors speak against the replica; all unless told otherwise.
  ///   - probe: Asks a replica for its load; `nil` to go by what the client itself sees. It should be answered at once or
  ///     not at all: no attempt waits for it.
  /// - Throws: ``InvalidPolicy`` if there is no replica.
  public init(
    _ name: String,
    among replicas: [Replica],
    policy: LoadBalancerPolicy = .standard,
    random: RandomSource = .system,
    failuresWhere speaksAgainst: @escaping @Sendable (any Error) -> Bool = { _ in true },
    probe: Probe? = nil
  ) throws(InvalidPolicy) {
    self.name = name
    self.policy = policy
    self.random = random
    self.speaksAgainst = speaksAgainst
    self.probe = probe
    state = Locked(LoadBalancerMachine(policy, among: try Self.valid(replicas)))
  }

  private static func valid(_ replicas: [Replica]) throws(InvalidPolicy) -> [Replica] {
    try PolicyKind.loadBalancer.require("replicas", replicas, "Give at least one, and none twice.") {
      !$0.isEmpty && Set($0).count == $0.count
    }
    return replicas
  }

  /// Where attempts may go.
  public var replicas: [Replica] { state.withLock { $0.replicas } }

  /// Other replicas are there from now on; what is known of those that stay is kept, and attempts under way go on.
  ///
  /// - Parameter replicas: At least one.
  /// - Throws: ``InvalidPolicy`` if there is none; then all stays as it was.
  public func replaceReplicas(by replicas: [Replica]) throws(InvalidPolicy) {
    let replicas = try Self.valid(replicas)
    state.withLock { $0.replace(by: replicas) }
  }

  /// Begins a call, which may take several attempts.
  ///
  /// ``Pipeline/run(among:_:)`` and ``Pipeline/publisher(among:_:)`` do it by themselves.
  public func makeCall() -> BalancedCall<Replica> { BalancedCall(balancer: self) }

  /// What it knows of a replica.
  public struct Sight: Hashable, Sendable {
    /// Which replica.
    public let replica: Replica
    /// How many attempts of this client are under way there.
    public let requestsInFlight: Int
    /// What its latency is taken for, failures included; zero while nothing is known.
    public let latency: Duration
  }

  /// What it has seen of its replicas; reading it changes nothing.
  ///
  /// - Parameter time: Says what now is.
  /// - Complexity: O(n) in the number of replicas.
  public func sights(on time: TimeSource = .current) -> [Sight] {
    let now = time.now
    return state.withLock { machine in
      machine.replicas.map { replica in
        Sight(
          replica: replica,
          requestsInFlight: machine.inFlight(at: replica),
          latency: .seconds(machine.latency(of: replica, at: now))
        )
      }
    }
  }

  // MARK: Attempts

  /// - Parameter tried: Where attempts of the same call have been, in order.
  func pick(notAmong tried: [Replica], on time: TimeSource) -> Replica {
    let now = time.now
    let isProbed = probe != nil
    let (replica, probed): (Replica, [Replica]) = state.withLock { machine in
      let replica = machine.pick(notAmong: tried, isProbed: isProbed, at: now, random: random)
      return (replica, isProbed ? machine.probes(random: random) : [])
    }
    for replica in probed { send(to: replica, on: time, at: now) }
    return replica
  }

  func begin(at replica: Replica) {
    state.withLock { $0.begin(at: replica) }
  }

  func end(_ end: LoadBalancerMachine<Replica>.End, at replica: Replica, after latency: Duration, now: Duration) {
    state.withLock { $0.end(end, at: replica, after: latency, now: now) }
  }

  private func send(to replica: Replica, on time: TimeSource, at now: Duration) {
    guard let probe else { return }
    // One who has not answered the last one yet is not asked again before that has grown too old.
    let isAsked = probes.withLock { probes in probes[replica].map { now - $0.sent < policy.maxProbeAge } ?? false }
    guard !isAsked else { return }
    let isOver = Locked(false)
    let subscription = probe(replica).sink { [weak self] end in
      isOver.withLock { $0 = true }
      if case .failure = end { self?.state.withLock { $0.forget(replica) } }
      let ended = self?.probes.withLock { $0.removeValue(forKey: replica) }
      withExtendedLifetime(ended) {}
    } receiveValue: { [weak self] load in
      self?.state.withLock { $0.take(load, of: replica, at: time.now) }
    }
    let before = probes.withLock { probes in
      isOver.withLock { $0 } ? nil : probes.updateValue((now, subscription), forKey: replica)
    }
    withExtendedLifetime(before) {}
  }
}

extension LoadBalancer: PolicyObservable {
  /// That of load balancers.
  public static var kind: PolicyKind { .loadBalancer }
  /// Its ``sights(on:)``.
  public var reading: (any PolicyReading)? { LoadBalancerReading(sights()) }
}

private struct LoadBalancerReading: PolicyReading {
  let description: String
  let measurements: [PolicyMeasurement]

  init<Replica>(_ sights: [LoadBalancer<Replica>.Sight]) {
    description =
      sights
      .map { "\($0.replica): \($0.requestsInFlight) in flight, \($0.latency)" }
      .joined(separator: "; ")
    measurements = [
      PolicyMeasurement(
        "rebound_replicas_in_flight",
        Double(sights.reduce(0) { $0 + $1.requestsInFlight }),
        meaning: "How many attempts are under way at all replicas."
      ),
      PolicyMeasurement(
        "rebound_replicas_in_flight_max",
        Double(sights.map(\.requestsInFlight).max() ?? 0),
        meaning: "How many attempts are under way at the replica that has the most."
      ),
    ]
  }
}

extension PolicyKind {
  /// That of a ``LoadBalancer``.
  public static let loadBalancer = PolicyKind("load balancer")
}
