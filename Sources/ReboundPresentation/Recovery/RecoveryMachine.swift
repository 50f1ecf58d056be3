/// Decides when a request that failed is tried again, and what a person sees meanwhile.
///
/// A plain value without clock, lock or stream; its owner tells it the time.
struct RecoveryMachine: Sendable {
  /// What to do now.
  enum Action: Hashable, Sendable {
    case nothing
    /// Begin the request anew.
    case begin
  }

  private let policy: AutomaticRetryPolicy

  private(set) var isLoading = false
  private(set) var problem: Presentation?
  /// Whether what has failed may be tried again without being asked for.
  private var mayRepeat = true
  private(set) var isOnline = true
  /// When the countdown of a server's hint ends.
  private(set) var countdownEnd: Duration?
  /// When the network may start a try, if it is there by then.
  private(set) var networkRetryAt: Duration?
  /// How many tries have failed since the last that succeeded or was asked for.
  private(set) var failures = 0

  private var automaticInARow = 0
  private var lastAutomatic: Duration?
  /// Whether the network came back while this try ran.
  private var cameBackMeanwhile = false

  init(_ policy: AutomaticRetryPolicy) {
    self.policy = policy
  }

  /// The seconds left of the countdown, a begun one included.
  func secondsLeft(now: Duration) -> Int? { countdownEnd.map { ($0 - now).wholeSecondsUp } }

  /// When to ask again; `nil` if nothing is due without an event.
  var nextDue: Duration? { [countdownEnd, networkRetryAt].compactMap { $0 }.min() }

  /// A person opens, refreshes or asks for another try.
  ///
  /// A try that runs is outranked.
  mutating func begin() -> Action {
    automaticInARow = 0
    lastAutomatic = nil
    failures = 0
    return start()
  }

  /// The request has brought a value, and may bring more.
  mutating func received() {
    problem = nil
    failures = 0
    automaticInARow = 0
    lastAutomatic = nil
  }

  /// The request has ended without an error.
  mutating func finished() {
    isLoading = false
    problem = nil
  }

  /// The request has failed.
  mutating func failed(_ presentation: Presentation, mayRepeat: Bool, now: Duration) -> Action {
    isLoading = false
    guard presentation != .ignore else { return .nothing }
    problem = presentation
    self.mayRepeat = mayRepeat
    failures += 1
    if mayRepeat, let retryAfter = presentation.message?.retryAfter {
      countdownEnd = now + max(retryAfter.clampedToDelay, policy.minimumCountdown)
    }
    // The network may have come back while the request was failing for the lack of it.
    guard waitsForNetwork, cameBackMeanwhile else { return .nothing }
    return networkRetry(now: now)
  }

  /// A person has given the request up.
  mutating func cancelled() {
    isLoading = false
    countdownEnd = nil
    networkRetryAt = nil
    problem = nil
  }

  /// The network went, or came back.
  mutating func network(isOnline: Bool, now: Duration) -> Action {
    let isBack = isOnline && !self.isOnline
    self.isOnline = isOnline
    cameBackMeanwhile = (cameBackMeanwhile || isBack) && isOnline
    guard isBack, !isLoading, waitsForNetwork else { return .nothing }
    return networkRetry(now: now)
  }

  /// Time has passed.
  mutating func tick(now: Duration) -> Action {
    if let countdownEnd, countdownEnd <= now { return start() }
    if let networkRetryAt, networkRetryAt <= now {
      self.networkRetryAt = nil
      return isOnline ? startByNetwork(now: now) : .nothing
    }
    return .nothing
  }

  private var waitsForNetwork: Bool { mayRepeat && problem?.message?.topic == .offline }

  private mutating func networkRetry(now: Duration) -> Action {
    if let maximum = policy.maxInARow, automaticInARow >= maximum { return .nothing }
    let earliest = lastAutomatic.map { $0 + pauseAfterLast } ?? now
    guard earliest > now else { return startByNetwork(now: now) }
    networkRetryAt = earliest
    return .nothing
  }

  private mutating func startByNetwork(now: Duration) -> Action {
    automaticInARow += 1
    lastAutomatic = now
    return start()
  }

  /// Doubles with each try in a row, so that a network that comes and goes can't make them many.
  private var pauseAfterLast: Duration {
    let doublings = min(max(automaticInARow - 1, 0), 30)
    return min(policy.pause * (1 << doublings), policy.maxPause)
  }

  private mutating func start() -> Action {
    countdownEnd = nil
    networkRetryAt = nil
    cameBackMeanwhile = false
    isLoading = true
    return .begin
  }
}
