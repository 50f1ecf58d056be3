/// How long a kept value is good, and for what.
public struct CacheLifetime: Hashable, Sendable {
  /// How long it is as good as a new one.
  public let fresh: Duration
  /// For how long after that it is delivered at once, while a new one is fetched behind the subscriber's back.
  public let staleWhileRevalidate: Duration
  /// For how long after that it is delivered when a new one cannot be had.
  public let staleIfError: Duration

  /// Describes how long a value is good; a negative time, which a server may send, counts as none.
  ///
  /// Source: RFC 5861, whose windows begin where the freshness ends, too.
  public init(fresh: Duration, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero) {
    self.fresh = fresh.clampedToDelay
    self.staleWhileRevalidate = staleWhileRevalidate.clampedToDelay
    self.staleIfError = staleIfError.clampedToDelay
  }

  /// From which age on it is good for nothing.
  @inlinable var end: Duration { fresh + max(staleWhileRevalidate, staleIfError) }
}

/// How long a cache keeps values, and how many.
public struct CachePolicy: Hashable, Sendable {
  /// How long a value is good that says nothing about it itself.
  public let lifetime: CacheLifetime
  /// How long a failure is kept, and those who ask for the key get it at once; zero for not at all, the default.
  ///
  /// A cancel is no failure.
  public let negative: Duration
  /// How many values and failures are kept at most; the one whose last use is the longest ago goes first.
  public let maxCount: Int
  /// What all values that are kept may cost together; `nil` for no limit.
  public let maxCost: Int?

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - fresh: How long a value is as good as a new one.
  ///   - staleWhileRevalidate: For how long after that it is delivered while a new one is fetched.
  ///   - staleIfError: For how long after that it is delivered when a new one cannot be had.
  ///   - negative: How long a failure is kept.
  ///   - maxCount: How many values are kept at most.
  ///   - maxCost: What all values may cost together.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public init(
    fresh: Duration,
    staleWhileRevalidate: Duration = .zero,
    staleIfError: Duration = .zero,
    negative: Duration = .zero,
    maxCount: Int = 1_000,
    maxCost: Int? = nil
  ) throws(InvalidPolicy) {
    let times: KeyValuePairs = [
      "fresh": fresh, "staleWhileRevalidate": staleWhileRevalidate, "staleIfError": staleIfError, "negative": negative,
    ]
    for (name, time) in times {
      try PolicyKind.cache.require(name, time, "Give zero for none, or a positive duration.") { $0 >= .zero }
    }
    try PolicyKind.cache.require("maxCount", maxCount, "Give at least 1.") { $0 >= 1 }
    try PolicyKind.cache.require("maxCost", maxCost, "Give at least 1, or nil for no limit.") { $0 >= 1 }
    lifetime = CacheLifetime(fresh: fresh, staleWhileRevalidate: staleWhileRevalidate, staleIfError: staleIfError)
    self.negative = negative.clampedToDelay
    self.maxCount = maxCount
    self.maxCost = maxCost
  }
}
