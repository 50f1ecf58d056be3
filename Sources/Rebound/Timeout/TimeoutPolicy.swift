/// How long something may take.
///
///     .total(.seconds(30))                    // above the retry: all attempts and waits together
///     .attempt(.seconds(10))                  // below the retry: each attempt
///     .betweenValues(.seconds(60))            // a stream that falls silent
///
/// A policy is a plain value without state. It may have several limits at once; the first one that is reached ends it.
/// The end is an error, ``TimedOut``, never a finish.
///
/// The limits for the first value and between values only run while a value is owed: a subscriber that asks for nothing
/// is not kept waiting.
public struct TimeoutPolicy: Sendable {
  /// What a policy consists of.
  struct Settings: Sendable {
    var total: Duration?
    var attempt: Duration?
    var firstValue: Duration?
    var betweenValues: Duration?
    var name: String?
    var isCooperative = false
    var observer: (@Sendable (TimeoutEvent) -> Void)?
  }

  /// Kept in one object, so that a copy of a policy costs one reference.
  @usableFromInline
  final class Storage: Sendable {
    let settings: Settings
    /// The time for the whole; `nil` if only values are waited for.
    let whole: Duration?
    let looksAtValues: Bool
    /// The time for an asynchronous function, which returns once, and is waited for from its start.
    @usableFromInline let limitOfFunction: Duration
    @usableFromInline let isCooperative: Bool

    init(_ settings: Settings) {
      self.settings = settings
      whole = Storage.shorter(settings.total, settings.attempt)
      looksAtValues = settings.firstValue != nil || settings.betweenValues != nil
      limitOfFunction = Storage.shorter(whole, settings.firstValue ?? settings.betweenValues) ?? .longestDelay
      isCooperative = settings.isCooperative
    }

    private static func shorter(_ left: Duration?, _ right: Duration?) -> Duration? {
      guard let left, let right else { return left ?? right }
      return min(left, right)
    }
  }

  @usableFromInline private(set) var storage: Storage

  var settings: Settings { storage.settings }

  /// The time for everything, retries and their waits included; `nil` means no limit.
  public var total: Duration? { settings.total }
  /// The time for one attempt: as ``total``, for use inside of a retry, and named so in the error.
  public var attempt: Duration? { settings.attempt }
  /// The time until the first value or the end.
  public var firstValue: Duration? { settings.firstValue }
  /// The time from one value to the next or to the end.
  ///
  /// It is also the time until the first value, unless ``firstValue`` says otherwise.
  public var betweenValues: Duration? { settings.betweenValues }
  /// What takes the time, for the error: "weather"; `nil` if it has no name.
  public var name: String? { settings.name }

  /// Whether an asynchronous function is left to end by itself when a limit is reached; see ``cooperative()``.
  @inlinable public var isCooperative: Bool { storage.isCooperative }

  /// Makes a policy, and refuses limits that make no sense.
  ///
  /// - Parameters:
  ///   - total: The time for everything.
  ///   - attempt: The time for one attempt.
  ///   - firstValue: The time until the first value or the end.
  ///   - betweenValues: The time from one value to the next or to the end.
  ///   - name: What takes the time, for the error.
  /// - Throws: ``InvalidPolicy``, with the limit that makes no sense.
  public init(
    total: Duration? = nil,
    attempt: Duration? = nil,
    firstValue: Duration? = nil,
    betweenValues: Duration? = nil,
    name: String? = nil
  ) throws(InvalidPolicy) {
    let limits: KeyValuePairs = [
      "total": total, "attempt": attempt, "firstValue": firstValue, "betweenValues": betweenValues,
    ]
    if limits.allSatisfy({ $0.value == nil }) {
      throw InvalidPolicy(.timeout, "total", "nil", "Give at least one limit, or leave the timeout out.")
    }
    for (name, limit) in limits {
      try PolicyKind.timeout.require(name, limit, "Give a positive duration, or nil for none.") { $0 > .zero }
    }
    self.init(
      clampingTotal: total,
      attempt: attempt,
      firstValue: firstValue,
      betweenValues: betweenValues,
      name: name
    )
  }

  private init(
    clampingTotal total: Duration? = nil,
    attempt: Duration? = nil,
    firstValue: Duration? = nil,
    betweenValues: Duration? = nil,
    name: String? = nil
  ) {
    let settings = Settings(
      total: total?.clampedToDelay,
      attempt: attempt?.clampedToDelay,
      firstValue: firstValue?.clampedToDelay,
      betweenValues: betweenValues?.clampedToDelay,
      name: name
    )
    storage = Storage(settings)
  }

  /// A limit for everything, retries and their waits included.
  ///
  /// - Parameter limit: Zero or less, such as what is left of a ``Deadline`` that has passed, is over at once.
  public static func total(_ limit: Duration) -> TimeoutPolicy { TimeoutPolicy(clampingTotal: limit) }

  /// A limit for one attempt, for use inside of a retry.
  ///
  /// - Parameter limit: Zero or less is over at once.
  public static func attempt(_ limit: Duration) -> TimeoutPolicy { TimeoutPolicy(clampingTotal: nil, attempt: limit) }

  /// A limit for the time until the first value or the end.
  ///
  /// - Parameter limit: Zero or less is over at once.
  public static func firstValue(_ limit: Duration) -> TimeoutPolicy {
    TimeoutPolicy(clampingTotal: nil, firstValue: limit)
  }

  /// A limit for the time until each value or the end.
  ///
  /// - Parameter limit: Zero or less is over at once.
  public static func betweenValues(_ limit: Duration) -> TimeoutPolicy {
    TimeoutPolicy(clampingTotal: nil, betweenValues: limit)
  }

  /// The same policy, for asynchronous functions that heed ``Deadline/current`` themselves.
  ///
  /// The function runs in the caller's own task, which costs a tenth of a task of its own, and is not cancelled: it sees
  /// what time is left, and ends by itself. If it fails after the limit, the error is ``TimedOut``. This library's client
  /// and the waits of its policies heed the deadline. The end of such a wait counts as a cancel does without this: no policy
  /// in between takes it for a failure.
  ///
  /// For publishers there is no difference. The waits of those that the function awaits by hand, as a loop over `values` does, are
  /// not ended, be it for a place or for what others have begun: put a `timeout` on such a publisher, or leave this out.
  public func cooperative() -> TimeoutPolicy {
    with { $0.isCooperative = true }
  }

  /// The same policy with a name for its errors, unless it has one.
  ///
  /// - Parameter name: What takes the time: "weather".
  public func named(_ name: String) -> TimeoutPolicy {
    with { $0.name = $0.name ?? name }
  }

  /// The same policy, told to one more observer.
  ///
  /// - Parameter observer: Gets every timeout before it is acted on, with no lock held: where time ends it, or in the task
  ///   that runs the function.
  public func onEvent(_ observer: @escaping @Sendable (TimeoutEvent) -> Void) -> TimeoutPolicy {
    with { $0.observer = both($0.observer, observer) }
  }

  private func with(_ change: (inout Settings) -> Void) -> TimeoutPolicy {
    var (copy, settings) = (self, settings)
    change(&settings)
    copy.storage = Storage(settings)
    return copy
  }
}
