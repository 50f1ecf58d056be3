import Rebound

/// How a ``LoadBalancer`` picks.
public struct LoadBalancerPolicy: Hashable, Sendable {
  /// Which share of the numbers of requests in flight that were seen of late a replica may reach; one with more is hot.
  public let hotQuantile: Double
  /// How fast what is known of a replica is forgotten: to 37 % within this time.
  public let memory: Duration
  /// As how long a latency a failure counts.
  public let failureLatency: Duration
  /// How many replicas are probed for each attempt, if they are.
  public let probesPerAttempt: Double
  /// How old a replica's answer to a probe may be.
  public let maxProbeAge: Duration
  /// How many answers to probes are kept, and among how many replicas is picked.
  public let maxCandidates: Int

  /// The figures of the source: hot from the quantile 0.84 on, three probes for each attempt, 16 candidates, answers of at
  /// most a second.
  ///
  /// A failure counts as five seconds and is forgotten within some half a minute.
  public static let standard = valid { () throws(InvalidPolicy) in try LoadBalancerPolicy() }

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - hotQuantile: Which share of the numbers of requests in flight that were seen of late a replica may reach. At 0 only
  ///     the requests in flight count, at 1 only the latency does.
  ///   - memory: How fast what is known of a replica is forgotten. The shorter, the sooner one that was slow or down is tried
  ///     again.
  ///   - failureLatency: As how long a latency a failure counts: longer than any answer takes that is worth waiting for.
  ///   - probesPerAttempt: How many replicas are probed for each attempt.
  ///   - maxProbeAge: How old a replica's answer to a probe may be.
  ///   - maxCandidates: How many answers to probes are kept, and among how many replicas is picked.
  /// - Throws: `InvalidPolicy`, with the number that makes no sense.
  public init(
    hotQuantile: Double = 0.84,
    memory: Duration = .seconds(10),
    failureLatency: Duration = .seconds(5),
    probesPerAttempt: Double = 3,
    maxProbeAge: Duration = .seconds(1),
    maxCandidates: Int = 16
  ) throws(InvalidPolicy) {
    let kind = PolicyKind.loadBalancer
    try kind.require("hotQuantile", hotQuantile, "Give a share from 0 to 1; 0.84 is usual.") { (0...1).contains($0) }
    try kind.require("memory", memory, "Give at least a millisecond.") { $0 >= .milliseconds(1) }
    try kind.require("failureLatency", failureLatency, "Give a duration from zero.") { $0 >= .zero }
    try kind.require("probesPerAttempt", probesPerAttempt, "Give a number above 0, at most 100.") {
      $0 > 0 && $0 <= 100
    }
    try kind.require("maxProbeAge", maxProbeAge, "Give a positive duration.") { $0 > .zero }
    try kind.require("maxCandidates", maxCandidates, "Give 2 to 1000.") { (2...1_000).contains($0) }
    self.hotQuantile = hotQuantile
    self.memory = memory.clampedToDelay
    self.failureLatency = failureLatency.clampedToDelay
    self.probesPerAttempt = probesPerAttempt
    self.maxProbeAge = maxProbeAge.clampedToDelay
    self.maxCandidates = maxCandidates
  }
}

/// How loaded a replica is, as it says itself when it is probed.
public struct ReplicaLoad: Hashable, Sendable {
  /// How many requests it has that are not answered.
  public let requestsInFlight: Int
  /// How long its answers take while it has about as many: the median of the last few, say.
  public let latency: Duration

  /// Says how loaded a replica is.
  public init(requestsInFlight: Int, latency: Duration) {
    self.requestsInFlight = requestsInFlight
    self.latency = latency
  }
}
