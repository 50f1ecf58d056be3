/// Counts requests and attempts over a window, in tenths of it.
///
/// It has no clock and no lock.
struct MetastabilityMachine: Sendable {
  /// What is counted.
  enum Occasion: Sendable {
    case request, success, failure
  }

  private struct Counts: Sendable {
    var requests = 0
    var successes = 0
    var failures = 0
  }

  private static let slotCount = 10

  private let rule: MetastabilityDetector.Rule
  private let slotLength: Duration
  private var slots = Array(repeating: Counts(), count: slotCount)
  private var total = Counts()
  private var current = 0
  /// When the slot at hand ends.
  private var slotEnd: Duration?
  private(set) var isSuspected = false

  init(_ rule: MetastabilityDetector.Rule) {
    self.rule = rule
    slotLength = rule.window / Self.slotCount
  }

  var snapshot: MetastabilityDetector.Snapshot {
    MetastabilityDetector.Snapshot(
      requests: total.requests,
      succeeded: total.successes,
      failed: total.failures,
      isSuspected: isSuspected
    )
  }

  mutating func count(_ occasion: Occasion, at now: Duration) {
    move(to: now)
    switch occasion {
    case .request:
      slots[current].requests += 1
      total.requests += 1
    case .success:
      slots[current].successes += 1
      total.successes += 1
    case .failure:
      slots[current].failures += 1
      total.failures += 1
    }
    judge()
  }

  private mutating func judge() {
    let attempts = total.successes + total.failures
    isSuspected =
      attempts >= rule.minimumAttempts && total.successes > 0
      && Double(total.failures) >= rule.failureRatio * Double(attempts)
      && Double(attempts) >= rule.amplification * Double(max(total.requests, 1))
  }

  /// Lets what is too old count no more; a step back counts as no time at all.
  mutating func move(to now: Duration) {
    guard let end = slotEnd else {
      slotEnd = now + slotLength
      return
    }
    guard now >= end else { return }
    let passed = Int(min((now - end) / slotLength, Double(Self.slotCount)).rounded(.down)) + 1
    for _ in 0..<min(passed, Self.slotCount) {
      current = (current + 1) % Self.slotCount
      total.requests -= slots[current].requests
      total.successes -= slots[current].successes
      total.failures -= slots[current].failures
      slots[current] = Counts()
    }
    slotEnd = passed > Self.slotCount ? now + slotLength : end + slotLength * passed
    judge()
  }
}
