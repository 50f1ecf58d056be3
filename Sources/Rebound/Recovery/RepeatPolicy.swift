/// How often to do something again that has finished, and after which pause.
///
///     poll.repeat(RepeatPolicy(clamping: nil, pause: .constant(.seconds(30))))
///
/// ``init(times:pause:random:)`` refuses numbers that make no sense; ``init(clamping:pause:random:)`` brings them into
/// range.
///
/// It is to a finish what ``RetryPolicy`` is to a failure. For those who come from RxSwiftExt's `RepeatBehavior`, whose
/// `maxCount` counts the first run, too:
///
/// | RxSwiftExt | here |
/// |---|---|
/// | `immediate(maxCount: n)` | `RepeatPolicy(clamping: n - 1)` |
/// | `delayed(maxCount: n, time: t)` | `RepeatPolicy(clamping: n - 1, pause: .constant(t))` |
/// | `exponentialDelayed(maxCount: n, initial: t, multiplier: m)` | `RepeatPolicy(clamping: n - 1, pause: .exponential(from: t, multiplier: 1 + m, jitter: .none))` |
/// | `customTimerDelayed(maxCount: n, delayCalculator: f)` | `RepeatPolicy(clamping: n - 1, pause: .custom { f($0 + 1) })` |
public struct RepeatPolicy: Sendable {
  /// How many runs may follow the first; `nil` means for ever.
  public let times: Int?
  /// How long to wait before each of them.
  public let pause: Backoff
  /// Where jitter gets its randomness.
  public let random: RandomSource

  /// From one begin to the next; `nil` for ``pause`` between an end and the next begin.
  public private(set) var interval: Duration?

  package private(set) var condition: @Sendable (_ runs: Int) -> Bool = { _ in true }
  package private(set) var observer: (@Sendable (RepeatEvent) -> Void)?

  /// Again at once, without an end.
  public static let standard = valid { () throws(InvalidPolicy) in try RepeatPolicy() }

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - times: How many runs may follow the first; `nil` means for ever.
  ///   - pause: How long to wait before each of them.
  ///   - random: Where jitter gets its randomness.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public init(
    times: Int? = nil,
    pause: Backoff = .immediate,
    random: RandomSource = .system
  ) throws(InvalidPolicy) {
    try Self.requireTimes(times)
    try pause.validate(for: .repeat)
    self.init(clamping: times, pause: pause, random: random)
  }

  /// Makes a policy, and brings numbers that make no sense into range.
  ///
  /// Negative runs and pauses count as zero, a multiplier under 1 as 1, a jitter's ratio as the nearest in `0...1`.
  ///
  /// - Parameters:
  ///   - times: How many runs may follow the first; `nil` means for ever.
  ///   - pause: How long to wait before each of them.
  ///   - random: Where jitter gets its randomness.
  public init(clamping times: Int?, pause: Backoff = .immediate, random: RandomSource = .system) {
    self.times = times.map { max($0, 0) }
    self.pause = pause
    self.random = random
  }

  /// Makes a policy of runs that begin at even intervals, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - interval: From one begin to the next, 1 ms at least; a run that takes longer is followed at once by the next.
  ///   - times: How many runs may follow the first; `nil` means for ever.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public init(every interval: Duration, times: Int? = nil) throws(InvalidPolicy) {
    try PolicyKind.repeat.require("every", interval, "Give at least a millisecond.") { $0 >= Self.shortestInterval }
    try Self.requireTimes(times)
    self.init(clampingEvery: interval, times: times)
  }

  /// Makes a policy of runs that begin at even intervals, and brings numbers that make no sense into range.
  ///
  /// - Parameters:
  ///   - interval: From one begin to the next; less than 1 ms counts as that, so that nothing is repeated at once, for ever.
  ///   - times: How many runs may follow the first; `nil` means for ever, a negative number none.
  public init(clampingEvery interval: Duration, times: Int? = nil) {
    self.init(clamping: times)
    self.interval = max(interval.clampedToDelay, Self.shortestInterval)
  }

  private static let shortestInterval = Duration.milliseconds(1)

  private static func requireTimes(_ times: Int?) throws(InvalidPolicy) {
    try PolicyKind.repeat.require("times", times, "Give 0 for a single run, or nil to repeat for ever.") { $0 >= 0 }
  }

  /// The same policy, as long as this holds, and every condition before.
  ///
  /// Where it does not hold, the execution ends as its last run did: finished, with or without a value. A failure ends it, and a
  /// cancel, and nobody is asked.
  ///
  /// - Parameter condition: Gets how many runs have finished; asked after each of them that another may follow, with no lock
  ///   held, on the thread of the finish.
  public func `while`(_ condition: @escaping @Sendable (_ runs: Int) -> Bool) -> RepeatPolicy {
    changed(self) { copy in copy.condition = { [earlier = self.condition] in earlier($0) && condition($0) } }
  }

  /// The same policy, told to one more observer.
  ///
  /// - Parameter observer: Gets every decision before it is acted on, on the thread of the finish, with no lock held.
  public func onEvent(_ observer: @escaping @Sendable (RepeatEvent) -> Void) -> RepeatPolicy {
    changed(self) { $0.observer = both($0.observer, observer) }
  }
}

/// One decision of a ``RepeatPolicy``: a run has finished, and this is what comes of it.
public enum RepeatEvent: Hashable, Sendable {
  /// Another run follows after this long.
  case repeating(runs: Int, after: Duration)
  /// No other run follows.
  case stopped(runs: Int)
}

extension RepeatEvent: RecordedDecision {
  /// That of repetitions.
  public static var kind: PolicyKind { .repeat }

  var record: DecisionRecord {
    switch self {
    case .repeating(let runs, let delay): .init(.info, "repeating", "run \(runs) finished; repeating in \(delay)")
    case .stopped(let runs): .init(.info, "stopped", "run \(runs) finished; stopped")
    }
  }
}

extension PolicyKind {
  /// That of a ``RepeatPolicy``.
  public static let `repeat` = PolicyKind("repeat")
}

/// Decides what comes of each finish of one execution.
///
/// It calls the policy's closures, so it must not be asked under a lock.
package struct RepeatMachine: Sendable {
  private let policy: RepeatPolicy
  private var delays: Backoff.Delays
  private var runs = 0

  package init(_ policy: RepeatPolicy) {
    self.policy = policy
    delays = policy.pause.delays(random: policy.random)
  }

  /// A run has finished.
  ///
  /// - Parameter elapsed: How much time has passed since the last run was to begin.
  /// - Returns: How long to wait before the next; `nil` if there is none.
  package mutating func finished(elapsed: Duration = .zero) -> Duration? {
    runs += 1
    let isWanted = policy.times.map { runs <= $0 } ?? true
    guard isWanted, policy.condition(runs) else {
      policy.observer?(.stopped(runs: runs))
      return nil
    }
    let delay = policy.interval.map { max($0 - elapsed, .zero) } ?? delays.nextStep().delay
    policy.observer?(.repeating(runs: runs, after: delay))
    return delay
  }
}

extension RepeatPolicy: Policy {
  /// The runs of one execution.
  public struct Machine: PolicyMachine {
    /// A failure ends it, whatever it is.
    public typealias Failure = any Error

    private var machine: RepeatMachine
    private let interval: Duration?
    private var begun: Duration?

    init(_ policy: RepeatPolicy) {
      machine = RepeatMachine(policy)
      interval = policy.interval
    }

    /// Notes when the run begins, if that matters.
    public mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
      if interval != nil, begun == nil { begun = execution.now }
      return .proceed
    }

    /// Has another run follow, or not.
    public mutating func succeeded(_ execution: ExecutionContext) -> Decision<any Error> {
      guard let interval, let begun else { return machine.finished().map { .wait($0) } ?? .proceed }
      let now = execution.now
      guard let pause = machine.finished(elapsed: now - begun) else { return .proceed }
      self.begun = max(begun + interval, now)
      return .wait(pause)
    }
  }

  /// What it does, with its numbers.
  public var descriptor: StageDescriptor {
    StageDescriptor(.repeat, parameters: [.init("times", times.map { "\($0)" } ?? "unlimited")])
  }

  /// The call is made again after a success.
  public var traits: StageTraits {
    var traits = StageTraits(descriptor: descriptor)
    traits.repeats = true
    return traits
  }

  /// Makes the machine of one execution.
  public func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(self) }
}
