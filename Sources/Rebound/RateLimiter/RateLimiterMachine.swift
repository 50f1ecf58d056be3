import Foundation

/// Decides which calls begin, which wait and which are refused.
///
/// It has no clock and no lock; its owner tells it the time, which never goes back.
package struct RateLimiterMachine: Hashable, Sendable {
  package enum Admission: Hashable, Sendable {
    case granted
    /// Waits under this number, about so long.
    case queued(Int, wait: Duration)
    /// With the time until it could begin if nobody else came.
    case rejected(retryAfter: Duration)
  }

  private struct Waiter: Hashable, Sendable {
    let number: Int
    let deadline: Duration
  }

  private let policy: RateLimiterPolicy
  /// That of the first call, from which the meter counts.
  private var firstMoment: Duration?
  private var start: Duration { firstMoment ?? .zero }
  private var meter: RateMeter
  /// The next one first, by rising numbers; a slice, whose first element goes without moving the others.
  private var queue: ArraySlice<Waiter> = []
  private var lastNumber = 0
  private var pausedUntil: Duration?
  /// The share of the full rate, and what it was when the service last complained, and when that was.
  package private(set) var share = 1.0
  private var shareBefore = 1.0
  private var loweredAt: Duration?

  package init(_ policy: RateLimiterPolicy, now: Duration? = nil) {
    self.policy = policy
    firstMoment = now
    meter = RateMeter(policy)
  }

  /// Makes a full bucket, or an empty window, with the share and the pause that hold in another one.
  package init(_ policy: RateLimiterPolicy, feedbackOf other: RateLimiterMachine) {
    self.init(policy, now: other.firstMoment)
    (share, shareBefore, loweredAt) = (other.share, other.shareBefore, other.loweredAt)
    pausedUntil = other.pausedUntil
    meter.setShare(share, now: .zero)
  }

  /// Whether the rate is below the full one, from what the service has said.
  package var isLowered: Bool { share < 1 }

  /// Lets a call begin, if nobody waits and it may begin now.
  package mutating func takeAtOnce(now: Duration) -> Bool {
    begin(now)
    return queue.isEmpty && pausedUntil == nil && meter.take(now: now - start) == .zero
  }

  private mutating func begin(_ now: Duration) {
    if firstMoment == nil { firstMoment = now }
  }

  package var queued: Int { queue.count }

  /// Nobody begins before this moment, on the meter's time.
  private func earliest(_ now: Duration) -> Duration {
    max(now, pausedUntil ?? now) - start
  }

  /// How long the last of so many calls, those who wait first, would have to wait.
  private func wait(_ count: Int, now: Duration) -> Duration {
    let earliest = earliest(now)
    let pause = earliest - (now - start)
    // To whole nanoseconds, upwards: a timer that rings too early would find nothing.
    return (meter.wait(for: count, now: earliest) + pause).roundedUpToNanoseconds
  }

  /// A call asks to begin.
  ///
  /// - Complexity: O(1).
  package mutating func enter(now: Duration, mayWait: Bool = true) -> Admission {
    begin(now)
    if queue.isEmpty, earliest(now) == now - start, meter.take(now: now - start) == .zero { return .granted }
    let wait = wait(queue.count + 1, now: now)
    guard mayWait, wait <= policy.maxWait, queue.count < policy.maxQueue else { return .rejected(retryAfter: wait) }
    lastNumber += 1
    queue.append(Waiter(number: lastNumber, deadline: now + policy.maxWait))
    return .queued(lastNumber, wait: wait)
  }

  /// Lets those begin whose turn has come.
  ///
  /// - Returns: Their numbers, in order, and how long until the next one's turn.
  package mutating func advance(now: Duration) -> (granted: [Int], next: Duration?) {
    var granted: [Int] = []
    while let first = queue.first {
      let wait = wait(1, now: now)
      guard wait == .zero, meter.take(now: now - start) == .zero else { return (granted, wait) }
      granted.append(first.number)
      queue.removeFirst()
    }
    return (granted, nil)
  }

  /// The one whose turn is next.
  package var next: Int? { queue.first?.number }

  /// One who waits no longer does; those behind move up.
  ///
  /// - Returns: Whether it still waited.
  package mutating func abandon(_ number: Int) -> Bool {
    var (low, high) = (queue.startIndex, queue.endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if queue[middle].number < number { low = middle + 1 } else { high = middle }
    }
    guard low < queue.endIndex, queue[low].number == number else { return false }
    queue.remove(at: low)
    return true
  }

  /// The pause that is kept when the service asks for this one; `nil` for none.
  package func bounded(_ pause: Duration?) -> Duration? { policy.feedback.bounded(pause) }

  /// The service has said that there were too many calls.
  ///
  /// A hundred calls that it refuses at the same time lower the rate once: what began before the rate went down says
  /// nothing about the lower one.
  ///
  /// - Parameters:
  ///   - pause: For how long it wants none; a longer one than the policy's `maxHint` counts as that.
  ///   - callStart: When the call began that it said so to; `nil` lowers the rate in any case.
  /// - Returns: Those whose turn would now come too late, with the time until then.
  package mutating func throttle(
    pause: Duration?,
    begun callStart: Duration? = nil,
    now: Duration
  ) -> [(number: Int, retryAfter: Duration)] {
    begin(now)
    if let pause = bounded(pause) { pausedUntil = max(pausedUntil ?? now, now + pause) }
    let lowers = if let callStart, let loweredAt { callStart >= loweredAt } else { true }
    if lowers {
      shareBefore = share
      setShare(max(share * policy.feedback.decrease, policy.feedback.floor), now: now)
      loweredAt = now
    }
    return refuseLate(now: now)
  }

  /// A call has succeeded.
  package mutating func succeed(now: Duration) {
    guard isLowered, let loweredAt else { return }
    // In permits per second, as the formula has it: W(t) = C·(t − K)³ + W, with K where the curve is flat.
    let full = Double(policy.permits) / policy.period.inSeconds
    let (scale, flat) = (policy.feedback.scale, shareBefore * full)
    guard scale > 0 else { return }
    let k = cbrt(flat * (1 - policy.feedback.decrease) / scale)
    let t = (now - loweredAt).inSeconds - k
    let rate = scale * t * t * t + flat
    let grown = min(max(rate / full, share), 1)
    setShare(grown, now: now)
  }

  private mutating func setShare(_ share: Double, now: Duration) {
    self.share = share
    meter.setShare(share, now: now - start)
  }

  private mutating func refuseLate(now: Duration) -> [(number: Int, retryAfter: Duration)] {
    var late: [(number: Int, retryAfter: Duration)] = []
    // Whoever is refused makes room for those behind, so each is looked at with only those before it that stay.
    var kept: [Waiter] = []
    for waiter in queue {
      let wait = wait(kept.count + 1, now: now)
      if now + wait <= waiter.deadline { kept.append(waiter) } else { late.append((waiter.number, wait)) }
    }
    queue = kept[...]
    return late
  }
}
