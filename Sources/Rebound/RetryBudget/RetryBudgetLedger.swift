/// The arithmetic of a retry budget.
///
/// It has no clock and no lock; its owner tells it the time.
struct RetryBudgetLedger: Sendable {
  enum Kind: Sendable {
    case ratio(Double, window: Duration, floor: Int)
    /// In thousandths of a token.
    case throttle(max: Int, earned: Int)
    case bucket(max: Int, cost: Int)
  }

  private struct Slot: Sendable {
    var requests = 0
    var retries = 0
  }

  /// Into how many parts the window is cut: what leaves it leaves a tenth at a time.
  private static let slotCount = 10

  private let kind: Kind
  private let slotLength: Duration
  private var slots = [Slot](repeating: Slot(), count: slotCount)
  /// The number of the slot that time is in, counted since time began.
  private var slot = 0
  /// When time leaves that slot; only then is there anything to compute.
  private var slotEnd = Duration.zero
  private var tokens: Int
  private(set) var waiting = 0

  init(_ kind: Kind) {
    self.kind = kind
    switch kind {
    case .ratio(_, let window, _): (slotLength, tokens) = (max(window / Self.slotCount, .nanoseconds(1)), 0)
    case .throttle(let max, _), .bucket(let max, _): (slotLength, tokens) = (.longestDelay, max)
    }
  }

  /// Forgets what the window has left behind.
  mutating func move(to now: Duration) {
    guard now >= slotEnd else { return }
    let current = Int(now / slotLength)
    slotEnd = slotLength * (current + 1)
    guard current > slot else { return }
    for passed in 0..<min(current - slot, Self.slotCount) {
      slots[(current - passed) % Self.slotCount] = Slot()
    }
    slot = current
  }

  /// How many more retries would be granted.
  var available: Int {
    switch kind {
    case .ratio(let ratio, _, let floor):
      let requests = slots.reduce(0) { $0 + $1.requests }
      let retries = slots.reduce(waiting) { $0 + $1.retries }
      // A thousandth of a millionth more, since 0.29 times 100 is just under 29.
      let earned = (Double(requests) * ratio + 1e-9).rounded(.down)
      return max(Int(min(earned, 1e15)) + floor - retries, 0)
    case .throttle(let max, _):
      // Retries cost nothing here, failures do: what counts is how many failures it still takes.
      return tokens * 2 > max ? (tokens - max / 2 + 999) / 1_000 : 0
    case .bucket(_, let cost):
      return tokens / cost
    }
  }

  mutating func begin() {
    slots[slot % Self.slotCount].requests += 1
  }

  mutating func fail() {
    if case .throttle = kind { tokens = max(tokens - 1_000, 0) }
  }

  mutating func succeed(afterRetry: Bool) {
    switch kind {
    case .ratio: break
    case .throttle(let max, let earned): tokens = min(tokens + earned, max)
    case .bucket(let max, let cost): tokens = min(tokens + (afterRetry ? cost : 1), max)
    }
  }

  mutating func grant() -> Bool {
    guard available > 0 else { return false }
    waiting += 1
    if case .bucket(_, let cost) = kind { tokens -= cost }
    return true
  }

  /// A retry that waited begins, or is given back.
  mutating func settle(begins: Bool) {
    waiting -= 1
    if begins {
      slots[slot % Self.slotCount].retries += 1
    } else if case .bucket(let max, let cost) = kind {
      tokens = min(tokens + cost, max)
    }
  }
}
