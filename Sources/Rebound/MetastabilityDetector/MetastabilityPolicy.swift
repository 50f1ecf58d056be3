/// When a ``MetastabilityDetector`` raises its alarm, and what it does then.
public struct MetastabilityPolicy: Hashable, Sendable {
  /// How many attempts there are for each request, at least, in a loop that feeds itself.
  public let attemptsPerRequest: Double
  /// Which share of the requests is answered, at most, in such a loop.
  public let answeredShare: Double
  /// How long attempts count; it moves on a tenth at a time.
  public let window: Duration
  /// How long all signs have to be there before the alarm, counted in tenths of the window.
  public let hold: Duration
  /// Whether it refuses retries while the alarm is on.
  public let refusesRetries: Bool

  /// Half as many retries as requests, nine tenths of these answered, over two seconds, for one second; it only tells.
  public static let standard = valid { () throws(InvalidPolicy) in try MetastabilityPolicy() }

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - attemptsPerRequest: How many attempts there are for each request, at least. The nearer to 1, the more the errors of
  ///     a healthy service look like a loop.
  ///   - answeredShare: Which share of the requests is answered, at most.
  ///   - window: How long attempts count.
  ///   - hold: How long all signs have to be there before the alarm.
  ///   - refusesRetries: Whether it refuses retries while the alarm is on.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public init(
    attemptsPerRequest: Double = 1.5,
    answeredShare: Double = 0.9,
    window: Duration = .seconds(2),
    hold: Duration = .seconds(1),
    refusesRetries: Bool = false
  ) throws(InvalidPolicy) {
    let kind = PolicyKind.metastabilityDetector
    try kind.require("attemptsPerRequest", attemptsPerRequest, "Give a finite number above 1.") {
      $0 > 1 && $0.isFinite
    }
    try kind.require("answeredShare", answeredShare, "Give a share above 0 and below 1.") { $0 > 0 && $0 < 1 }
    try kind.require("window", window, "Give at least a millisecond.") { $0 >= .milliseconds(1) }
    try kind.require("hold", hold, "Give zero or more.") { $0 >= .zero }
    self.attemptsPerRequest = attemptsPerRequest
    self.answeredShare = answeredShare
    self.window = window.clampedToDelay
    self.hold = hold.clampedToDelay
    self.refusesRetries = refusesRetries
  }
}

/// What a client sees of its own load.
struct LoadCounts: Summable {
  /// What was asked for.
  var requests = 0
  /// The attempts for it, those that were refused here included.
  var attempts = 0
  /// The attempts that went to the service.
  var made = 0
  /// The attempts that succeeded.
  var answers = 0

  mutating func add(_ other: LoadCounts, times: Int) {
    requests += other.requests * times
    attempts += other.attempts * times
    made += other.made * times
    answers += other.answers * times
  }
}

/// Tells a loop that feeds itself from what else can be wrong, by what one client sees.
///
/// It has no clock and no lock.
struct MetastabilityMachine: Sendable {
  /// What has changed.
  enum Change {
    case suspected
    case ended
  }

  /// Fewer attempts in a window prove nothing.
  private static let fewestAttempts = 20
  /// How many windows it takes to forget most of a demand that was borne.
  private static let memory = 300.0
  /// By how much more than that a demand may be, and still be the same: what chance and a day's curve add.
  private static let demandTolerance = 1.5

  private let policy: MetastabilityPolicy
  private let slotsToHold: Int
  private var recent: RecentCounts<LoadCounts>
  /// How many slots in a row have had all signs.
  private var slotsWithSigns = 0
  /// The most requests of a window that the service has answered while it was well, fading; `nil` if it never was.
  private(set) var borneDemand: Double?
  private(set) var isSuspected = false
  /// How many attempts may be made while the alarm is on.
  private var allowance = 0

  init(_ policy: MetastabilityPolicy) {
    self.policy = policy
    recent = RecentCounts(window: policy.window)
    slotsToHold = Int(min(policy.hold / policy.window * 10, 1e9).rounded(.up))
  }

  var counts: LoadCounts { recent.total }

  mutating func request(at now: Duration) -> Change? {
    let change = move(to: now)
    recent.add(LoadCounts(requests: 1))
    // No more than a window's: what was not used then is no debt of now.
    if isSuspected { allowance = min(allowance + 1, max(counts.requests, 1)) }
    return change
  }

  mutating func answer(at now: Duration) -> Change? {
    let change = move(to: now)
    recent.add(LoadCounts(answers: 1))
    return change
  }

  /// - Returns: Whether the attempt may be made.
  mutating func attempt(at now: Duration) -> (Bool, Change?) {
    let change = move(to: now)
    let isAllowed = !policy.refusesRetries || !isSuspected || allowance > 0
    if isSuspected, isAllowed { allowance = max(allowance - 1, 0) }
    recent.add(LoadCounts(attempts: 1, made: isAllowed ? 1 : 0))
    return (isAllowed, change)
  }

  /// Judges the window whenever a tenth of it is over.
  mutating func move(to now: Duration) -> Change? {
    let before = counts
    let slots = recent.move(to: now)
    guard slots > 0 else { return nil }
    return judge(before, slots: slots)
  }

  private mutating func judge(_ counts: LoadCounts, slots: Int) -> Change? {
    let (requests, attempts, answers) = (Double(counts.requests), Double(counts.attempts), Double(counts.answers))
    if isWell(counts) {
      let kept = max(1 - Double(slots) / (10 * Self.memory), 0)
      borneDemand = max((borneDemand ?? 0) * kept, requests)
    }
    let hasSigns =
      counts.attempts >= Self.fewestAttempts
      // The client adds to its own load,
      && attempts >= policy.attemptsPerRequest * requests
      // gets less than it asks for from a service that is there,
      && counts.answers > 0 && answers < policy.answeredShare * requests
      // and asks for no more than what the service has borne.
      && borneDemand.map { requests <= Self.demandTolerance * $0 } ?? false
    // After a silence of a whole window, nothing is known of the time between.
    slotsWithSigns = hasSigns ? (slots < 10 ? min(slotsWithSigns, slotsToHold) + slots : 1) : 0
    if !isSuspected, slotsWithSigns > slotsToHold {
      isSuspected = true
      allowance = 0
      return .suspected
    }
    let isOut = counts.answers == 0 && counts.made >= Self.fewestAttempts
    if isSuspected, isWell(counts) || isOut || counts.attempts == 0 {
      isSuspected = false
      return .ended
    }
    return nil
  }

  /// Whether hardly anything is asked for twice, and almost all is answered.
  private func isWell(_ counts: LoadCounts) -> Bool {
    let requests = Double(counts.requests)
    return counts.requests > 0 && Double(counts.attempts) < policy.attemptsPerRequest * requests
      && Double(counts.answers) >= policy.answeredShare * requests
  }
}
