import StreamSupport

/// How long the last calls took, to tell which ones are slow.
///
///     let recorder = LatencyRecorder()
///     let policy = try HedgePolicy<NetworkFailure>(delay: .percentile(0.95, of: recorder))
///
/// One recorder is shared by everything that calls the same service. It keeps the last latencies as they are and sorts
/// them when it is asked, which is exact and, for a few hundred, fast enough.
///
/// A hedged execution tells it how long the winner took, and of each attempt that it cancelled how long that had taken so
/// far, both from when somebody waited for it. Without the latter the slow calls would be missing, the estimate would sink,
/// and ever more calls be hedged.
public final class LatencyRecorder: Sendable {
  private struct Ring {
    var latencies: [Duration] = []
    var position = 0
  }

  /// How many latencies are kept.
  public let capacity: Int
  /// How many there must be before there is an estimate.
  public let minimumCount: Int

  private let ring = Locked(Ring())

  /// Makes an empty recorder.
  ///
  /// - Parameters:
  ///   - capacity: How many latencies are kept; at least one.
  ///   - minimumCount: How many there must be before there is an estimate, brought into `1...capacity`.
  public init(capacity: Int = 200, minimumCount: Int = 20) {
    self.capacity = max(capacity, 1)
    self.minimumCount = min(max(minimumCount, 1), max(capacity, 1))
    // For as many as are usual; a capacity may be as good as endless.
    ring.withLock { $0.latencies.reserveCapacity(min(self.capacity, 1_000)) }
  }

  /// How many latencies are known.
  public var count: Int { ring.withLock { $0.latencies.count } }

  /// Keeps a latency, in place of the oldest if there are too many.
  ///
  /// - Complexity: O(1).
  public func record(_ latency: Duration) {
    ring.withLock { ring in
      if ring.latencies.count < capacity {
        ring.latencies.append(latency)
      } else {
        ring.latencies[ring.position] = latency
        ring.position = (ring.position + 1) % capacity
      }
    }
  }

  /// The latency that this share of the calls did not exceed: the smallest one for which that holds (nearest rank).
  ///
  /// - Parameter share: In `0...1`; what is out of range is brought into it, and what is not a number counts as 0.
  /// - Returns: `nil` while there are too few.
  ///
  /// - Complexity: O(n log n) in the number of latencies.
  public func percentile(_ share: Double) -> Duration? {
    let sorted = ring.withLock { $0.latencies }.sorted()
    guard sorted.count >= minimumCount else { return nil }
    let share = share.isNaN ? 0 : share
    // A thousandth of a millionth less, since 0.07 times 100 is just over 7.
    let rank = (min(max(share, 0), 1) * Double(sorted.count) - 1e-9).rounded(.up)
    return sorted[min(max(Int(rank) - 1, 0), sorted.count - 1)]
  }
}
