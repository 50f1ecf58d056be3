import Combine
import Rebound
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
  public var policy: LoadBalancerPolicy { core.policy }
  @usableFromInline let core: LoadBalancerCore<Replica>
  private let probe: Probe?
  /// The last probe of each replica by its number, until it has ended.
  private let probes = Locked<[Int: SentProbe]>([:])

  /// Makes a balancer that knows nothing of its replicas.
  ///
  /// - Parameters:
  ///   - name: What is balanced.
  ///   - replicas: Where attempts may go; at least one.
  ///   - policy: How it picks.
  ///   - random: Chooses whom to probe, who comes first among equals, and the candidates where there are many replicas: one
  ///     number is drawn, when the balancer is made, and seeds all choices.
  ///   - speaksAgainst: Which errors speak against the replica; all unless told otherwise.
  ///   - probe: Asks a replica for its load; `nil` to go by what the client itself sees. It should be answered at once or
  ///     not at all: no attempt waits for it.
  /// - Throws: `InvalidPolicy` if there is no replica, or one twice.
  public init(
    _ name: String,
    among replicas: [Replica],
    policy: LoadBalancerPolicy = .standard,
    random: RandomSource = .system,
    failingWhen speaksAgainst: @escaping @Sendable (any Error) -> Bool = { _ in true },
    probe: Probe? = nil
  ) throws(InvalidPolicy) {
    let replicas = try Self.valid(replicas)
    self.name = name
    self.probe = probe
    core = LoadBalancerCore(policy, random, speaksAgainst, replicas)
  }

  private static func valid(_ replicas: [Replica]) throws(InvalidPolicy) -> [Replica] {
    try PolicyKind.loadBalancer.require("replicas", replicas, "Give at least one, and none twice.") {
      !$0.isEmpty && Set($0).count == $0.count
    }
    return replicas
  }

  /// Where attempts may go.
  public var replicas: [Replica] { core.state.withLock { $0.replicas } }

  /// Other replicas are there from now on; what is known of those that stay is kept, and attempts under way go on.
  ///
  /// Of several threads that replace them at once, the last one counts.
  ///
  /// - Parameter replicas: At least one.
  /// - Throws: `InvalidPolicy` if there is no replica, or one twice; then all stays as it was.
  public func replaceReplicas(by replicas: [Replica]) throws(InvalidPolicy) {
    let replicas = try Self.valid(replicas)
    let numbers = core.replace(by: replicas)
    let forNobody = probes.withLock { probes in
      let before = probes
      probes = probes.filter { numbers.contains($0.key) }
      return before
    }
    withExtendedLifetime(forNobody) {}
  }

  /// Begins a call, which may take several attempts.
  ///
  /// ``Rebound/Pipeline/run(among:_:)`` and ``Rebound/Pipeline/publisher(among:_:)`` do it by themselves.
  public func makeCall() -> BalancedCall<Replica> { BalancedCall(balancer: self) }

  /// What it knows of a replica.
  public struct Snapshot: Hashable, Sendable {
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
  public func snapshots(on time: TimeSource = .current) -> [Snapshot] {
    let now = time.now.inSeconds
    return core.state.withLock { state in
      state.replicas.indices.map { place in
        Snapshot(
          replica: state.replicas[place],
          requestsInFlight: state.machine.inFlight(at: place),
          latency: .seconds(state.machine.latency(at: place, now))
        )
      }
    }
  }

  // MARK: Attempts

  /// Picks the replica of an attempt, which counts there once it begins.
  ///
  /// - Parameter tried: The numbers of replicas where attempts of the same call have been, in order.
  @usableFromInline
  func pick(notAmong tried: [Int], on time: TimeSource) -> (Replica, BalancedPlace) {
    let now = time.now
    let (picked, probed) = core.pick(notAmong: tried, isProbed: probe != nil, at: now)
    for (replica, number) in probed { send(to: replica, number, on: time, at: now) }
    return picked
  }

  private func send(to replica: Replica, _ number: Int, on time: TimeSource, at now: Duration) {
    guard let probe else { return }
    let (sent, before): (SentProbe?, SentProbe?) = probes.withLock { probes in
      // One who has not answered the last one yet is not asked again before that has grown too old.
      if let last = probes[number], now - last.moment < policy.maxProbeAge { return (nil, nil) }
      let sent = SentProbe(at: now)
      return (sent, probes.updateValue(sent, forKey: number))
    }
    withExtendedLifetime(before) {}
    guard let sent else { return }
    let core = core
    // It is everybody's: the time of the call that has a replica asked is not its limit.
    let subscription = Deadline.replaced(by: nil) {
      probe(replica).sink { [weak self, weak sent] end in
        if case .failure = end { core.state.withLock { $0.machine.take(nil, of: number, at: .zero) } }
        self?.remove(sent, of: number)
      } receiveValue: { load in
        let now = time.now
        core.state.withLock { $0.machine.take(load, of: number, at: now) }
      }
    }
    // One that has ended, or was replaced meanwhile, goes with it.
    sent.subscription.withLock { $0 = subscription }
  }

  /// Forgets a probe that has ended, but not one that has taken its place.
  private func remove(_ sent: SentProbe?, of number: Int) {
    let ended = probes.withLock { probes in
      sent != nil && probes[number] === sent ? probes.removeValue(forKey: number) : nil
    }
    withExtendedLifetime(ended) {}
  }
}

/// A probe under way, which is cancelled when nobody holds it any more.
private final class SentProbe: Sendable {
  /// When it was sent.
  let moment: Duration
  let subscription = Locked<AnyCancellable?>(nil)

  init(at moment: Duration) {
    self.moment = moment
  }
}

/// What a balancer and its attempts share.
@usableFromInline
final class LoadBalancerCore<Replica: Hashable & Sendable>: Sendable {
  let policy: LoadBalancerPolicy
  let speaksAgainst: @Sendable (any Error) -> Bool
  let state: Locked<LoadBalancerState<Replica>>

  init(
    _ policy: LoadBalancerPolicy,
    _ random: RandomSource,
    _ speaksAgainst: @escaping @Sendable (any Error) -> Bool,
    _ replicas: [Replica]
  ) {
    (self.policy, self.speaksAgainst) = (policy, speaksAgainst)
    let machine = LoadBalancerMachine(policy, replicas: replicas.count, chance: random.next())
    state = Locked(LoadBalancerState(replicas: replicas, machine: machine))
  }

  /// Picks the replica of an attempt, and who is to be probed for it.
  func pick(
    notAmong tried: [Int],
    isProbed: Bool,
    at now: Duration
  ) -> (picked: (Replica, BalancedPlace), probed: [(replica: Replica, number: Int)]) {
    state.withLock { state in
      let place = state.machine.pick(notAmong: tried, isProbed: isProbed, at: now)
      let picked = BalancedPlace(place: place, number: state.machine.number(at: place), begin: now)
      let probes = isProbed ? state.machine.probes() : []
      return (
        (state.replicas[place], picked),
        probes.map { (state.replicas[$0], state.machine.number(at: $0)) }
      )
    }
  }

  /// Puts others in the place of the replicas that there are.
  ///
  /// - Returns: Their numbers.
  func replace(by replicas: [Replica]) -> Set<Int> {
    while true {
      let (before, generation) = state.withLock { ($0.replicas, $0.generation) }
      // To hash and compare them is the caller's code, so this is done with the lock open, and again if others came meanwhile.
      let former = Dictionary(uniqueKeysWithValues: before.enumerated().map { ($0.element, $0.offset) })
      let places = replicas.map { former[$0] }
      let numbers: Set<Int>? = state.withLock { state in
        guard state.generation == generation else { return nil }
        state.generation += 1
        state.replicas = replicas
        state.machine.replace(by: places)
        return Set(replicas.indices.map(state.machine.number))
      }
      // Those that are there no more go with the lock open.
      withExtendedLifetime(before) {}
      if let numbers { return numbers }
    }
  }
}

/// The replicas that there are, and what is known of them; the machine's places are theirs.
struct LoadBalancerState<Replica: Sendable>: Sendable {
  var replicas: [Replica]
  /// How often they were replaced.
  var generation = 0
  var machine: LoadBalancerMachine
}

/// Where an attempt is, and since when.
@usableFromInline
struct BalancedPlace: Sendable {
  /// Among the replicas that there were then.
  let place: Int
  /// The replica's, for good.
  let number: Int
  let begin: Duration
}

extension LoadBalancer: PolicyObservable {
  /// That of load balancers.
  public static var kind: PolicyKind { .loadBalancer }
  /// Its ``snapshots(on:)``.
  public var reading: (any PolicyReading)? { LoadBalancerReading(snapshots()) }
}

private struct LoadBalancerReading: PolicyReading {
  let description: String
  let measurements: [PolicyMeasurement]

  init<Replica>(_ snapshots: [LoadBalancer<Replica>.Snapshot]) {
    description =
      snapshots
      .map { "\($0.replica): \($0.requestsInFlight) in flight, \($0.latency)" }
      .joined(separator: "; ")
    measurements = [
      .init(
        "rebound_replicas_in_flight",
        snapshots.reduce(0) { $0 + $1.requestsInFlight },
        "How many attempts are under way at all replicas."
      ),
      .init(
        "rebound_replicas_in_flight_max",
        snapshots.map(\.requestsInFlight).max() ?? 0,
        "How many attempts are under way at the replica that has the most."
      ),
    ]
  }
}

extension PolicyKind {
  /// That of a ``LoadBalancer``.
  public static let loadBalancer = PolicyKind("load balancer")
}
