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

  private struct Counts: Summable {
    var requests = 0
    var retries = 0

    mutating func add(_ other: Counts, times: Int) {
      requests += other.requests * times
      retries += other.retries * times
    }
  }

  private let kind: Kind
  private var recent: RecentCounts<Counts>
  private var tokens: Int
  private(set) var waiting = 0

  init(_ kind: Kind) {
    self.kind = kind
    switch kind {
    case .ratio(_, let window, _): (recent, tokens) = (RecentCounts(window: window, from: .zero), 0)
    // Tokens know no time.
    case .throttle(let max, _), .bucket(let max, _): (recent, tokens) = (RecentCounts(window: .longestDelay), max)
    }
  }

  /// Forgets what the window has left behind.
  mutating func move(to now: Duration) { recent.move(to: now) }

  /// How many more retries would be granted.
  var available: Int {
    switch kind {
    case .ratio(let ratio, _, let floor):
      let retries = waiting + recent.total.retries
      // A thousandth of a millionth more, since 0.29 times 100 is just under 29.
      let earned = (Double(recent.total.requests) * ratio + 1e-9).rounded(.down)
      return max(Int(min(earned, 1e15)) + floor - retries, 0)
    case .throttle(let max, _):
      // Retries cost nothing here, failures do: what counts is how many failures it still takes.
      return tokens * 2 > max ? (tokens - max / 2 + 999) / 1_000 : 0
    case .bucket(_, let cost):
      return tokens / cost
    }
  }

  mutating func begin() { recent.add(Counts(requests: 1)) }

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
      recent.add(Counts(retries: 1))
    } else if case .bucket(let max, let cost) = kind {
      tokens = min(tokens + cost, max)
    }
  }
}
