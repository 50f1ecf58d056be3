import StreamSupport

/// How many retries all executions together may make, so that clients do not multiply the load on a service in trouble.
///
///     let budget = try RetryBudget.ratio(0.2)
///     let policy = RetryPolicy<NetworkFailure>.standard.within(budget)
///
/// One budget is shared by everything that calls the same service. A retry counts from the moment it is granted, also
/// while it waits, so a thousand calls that fail at once are not all let through. A retry that is denied fails with the
/// error that it was to retry, and its event says ``RetryEvent/Reason/budgetExhausted``. A wait that is cancelled gives
/// back what was taken for it.
///
/// It has no time of its own: whoever asks brings the present. Its account is kept in memory, or where an
/// ``RetryAccount`` keeps it: also for many processes together.
public final class RetryBudget: Sendable {
  package let account: any RetryAccount
  /// As good as endless, and low enough for sums.
  private static let most = Int.max / 4

  /// Makes a budget whose account is kept elsewhere.
  ///
  /// - Parameter account: Where it is kept.
  public init(_ account: any RetryAccount) {
    self.account = account
  }

  private convenience init(_ kind: RetryBudgetLedger.Kind) {
    self.init(LocalRetryAccount(kind))
  }

  /// Retries up to a share of the requests of the last moments.
  ///
  /// - Parameters:
  ///   - ratio: How many retries there may be for each request.
  ///   - window: How long requests and retries count.
  ///   - floor: How many retries there may be however few requests there are. Without one, the first failure after a
  ///     program's start could not be retried.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  ///
  /// Source: the retry budget of Finagle (20 % over 10 s), and of Google's "Site Reliability Engineering", chapter 21.
  public static func ratio(
    _ ratio: Double,
    window: Duration = .seconds(10),
    floor: Int = 3
  ) throws(InvalidPolicy) -> RetryBudget {
    try PolicyKind.budget.require("ratio", ratio, "Give a finite number from 0; 0.2 is a retry for five requests.") {
      $0 >= 0 && $0.isFinite
    }
    try PolicyKind.budget.require("window", window, "Give a positive duration.") { $0 > .zero }
    try PolicyKind.budget.require("floor", floor, "Give 0 for none, or how many retries are always allowed.") {
      $0 >= 0
    }
    return RetryBudget(.ratio(ratio, window: window.clampedToDelay, floor: min(floor, most)))
  }

  /// Retries while more than half of the tokens are left: a failure costs one, a success earns a part of one.
  ///
  /// - Parameters:
  ///   - tokens: How many there are at most, and at the start; in `1...1000`.
  ///   - successRatio: What a success earns; counted to three decimals, as is all here.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  ///
  /// Source: "retry throttling" of gRPC's proposal A6.
  public static func throttle(tokens: Int, successRatio: Double) throws(InvalidPolicy) -> RetryBudget {
    try PolicyKind.budget.require("tokens", tokens, "Give 1 to 1000.") { (1...1_000).contains($0) }
    try PolicyKind.budget.require(
      "successRatio",
      successRatio,
      "Give a finite number from 0; 0.1 is a tenth of a token."
    ) {
      $0 >= 0 && $0.isFinite
    }
    let earned = Int((min(successRatio, 1_000) * 1_000).rounded(.down))
    return RetryBudget(.throttle(max: tokens * 1_000, earned: earned))
  }

  /// Retries while a bucket of tokens lasts: a retry takes some, a success gives them back.
  ///
  /// - Parameters:
  ///   - tokens: How many there are at most, and at the start.
  ///   - cost: What a retry takes. Its success gives it back; a success without a retry gives one.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  ///
  /// Source: the standard retry mode of the AWS SDKs (500 tokens, 5 for a retry).
  public static func bucket(tokens: Int = 500, cost: Int = 5) throws(InvalidPolicy) -> RetryBudget {
    try PolicyKind.budget.require("tokens", tokens, "Give at least 1.") { $0 >= 1 }
    let advice = "Give at least 1, and no more than tokens, which is \(tokens)."
    try PolicyKind.budget.require("cost", cost, advice) { (1...tokens).contains($0) }
    return RetryBudget(.bucket(max: min(tokens, most), cost: min(cost, most)))
  }

  /// What a budget holds at one moment.
  public struct Snapshot: Hashable, Sendable {
    /// How many more retries would be granted now.
    public let available: Int
    /// How many retries are granted and wait for their turn.
    public let queued: Int
    /// How many retries were granted so far.
    public let granted: Int
    /// How many retries were denied so far.
    public let denied: Int

    /// Describes what a budget holds.
    public init(available: Int, queued: Int, granted: Int, denied: Int) {
      self.available = available
      self.queued = queued
      self.granted = granted
      self.denied = denied
    }
  }

  /// What the budget holds now; reading it changes nothing.
  ///
  /// - Parameter time: Says what now is.
  public func snapshot(on time: TimeSource = .current) -> Snapshot { account.snapshot(at: time.now) }

  /// A request begins; its retries are asked for apart.
  ///
  /// - Parameter now: The present, on the time of the execution; a step back counts as no time at all.
  public func begin(at now: Duration = TimeSource.current.now) {
    account.begin(at: now)
  }

  /// A request or a retry has failed with an error that is worth a retry.
  public func fail() {
    account.fail()
  }

  /// A request has succeeded.
  ///
  /// - Parameter retry: The retry that it took last; `nil` if it took none.
  public func succeed(after retry: Retry? = nil) {
    account.succeed(afterRetry: retry != nil)
  }

  /// Asks for a retry.
  ///
  /// - Parameter now: The present, on the time of the execution.
  /// - Returns: What stands for it; `nil` if it is denied.
  public func grant(at now: Duration = TimeSource.current.now) -> Retry? {
    account.grant(at: now)
  }

  /// A retry that is granted, and waits until it begins or is given back.
  ///
  /// One that is forgotten is given back.
  public final class Retry: Sendable {
    private let settle: @Sendable (_ begins: Bool, _ now: Duration?) -> Void
    private let isWaiting = Locked(true)

    /// Makes what stands for a retry.
    ///
    /// - Parameter settle: Called once, when the retry begins or is given back, with the present if it is known.
    public init(settling settle: @escaping @Sendable (_ begins: Bool, _ now: Duration?) -> Void) {
      self.settle = settle
    }

    deinit {
      settle(begins: false, at: nil)
    }

    /// The wait is over and the retry begins.
    ///
    /// - Parameter now: The present, on the time of the execution.
    public func begin(at now: Duration = TimeSource.current.now) {
      settle(begins: true, at: now)
    }

    /// The wait was cancelled; nothing happens if the retry has begun.
    ///
    /// - Parameter now: The present, on the time of the execution.
    public func giveBack(at now: Duration = TimeSource.current.now) {
      settle(begins: false, at: now)
    }

    private func settle(begins: Bool, at now: Duration?) {
      if isWaiting.exchange(false) { settle(begins, now) }
    }
  }
}

extension RetryBudget.Snapshot: PolicyReading {
  /// One line for a log: "3 left, 7 granted, 0 denied".
  public var description: String { "\(available) left, \(granted) granted, \(denied) denied" }

  /// `available`, `queued`, `granted` and `denied`.
  public var details: [EventField] {
    [
      EventField("available", available), EventField("queued", queued), EventField("granted", granted),
      EventField("denied", denied),
    ]
  }

  /// How many retries are left.
  public var measurements: [PolicyMeasurement] {
    [.init("rebound_budget_available", available, "Retries that are left of a budget.")]
  }
}

/// Its decisions are those of the retries that ask it.
extension RetryBudget: PolicyObservable {
  /// That of budgets.
  public static var kind: PolicyKind { .budget }
  /// Its ``snapshot(on:)``.
  public var reading: (any PolicyReading)? { snapshot() }
}

extension PolicyKind {
  /// That of a ``RetryBudget``.
  public static let budget = PolicyKind("budget")
}
