/// What goes wrong on purpose, and how often: to see in good time what a program does about it.
///
///     let chaos = Chaos<Forecast, NetworkFailure>(enabled: { settings.isChaosOn })
///       .fault(at: 0.001) { .timedOut }
///       .latency(at: 0.01, .seconds(3))
///     request.chaos(chaos).retry(policy)
///
/// It belongs innermost, next to what it makes fail. For each subscription, what is done to the call comes in the order in
/// which it was added, and nothing behind a fault or an outcome, which takes the place of the call: add a delay before those
/// to have them come late. What is done to single values and to the end comes on top.
///
/// It is a plain value, without state of any execution. All chance comes from one injected source, so a seeded one gives
/// the same chaos again.
public struct Chaos<Output, Failure: Error>: Sendable {
  /// What is done to a whole call.
  enum CallChaos: Sendable {
    case behaviour(@Sendable () -> Void)
    case latency(@Sendable () -> Duration)
    case fault(@Sendable () -> Failure)
    case outcome(@Sendable () -> Output)
  }

  /// What is done to single values and to the end.
  enum StreamChaos: Sendable {
    case duplicate
    case excess
    case delay(Duration)
    case corrupt(@Sendable (Output) -> Output)
    case dropCompletion
    case elsewhere
  }

  private let isEnabled: @Sendable () -> Bool
  let random: RandomSource
  private var callChaos: [(rate: InjectionRate, kind: CallChaos)] = []
  private var streamChaos: [(rate: InjectionRate, kind: StreamChaos)] = []
  private var observer: (@Sendable (ChaosEvent) -> Void)?

  /// Makes a chaos in which nothing goes wrong yet.
  ///
  /// - Parameters:
  ///   - isEnabled: Whether anything may go wrong; asked for each subscription and each value.
  ///   - random: Where chance comes from.
  public init(enabled isEnabled: @escaping @Sendable () -> Bool = { true }, random: RandomSource = .system) {
    self.isEnabled = isEnabled
    self.random = random
  }

  private func adding(_ kind: CallChaos, at rate: InjectionRate) -> Chaos {
    changed(self) { $0.callChaos.append((rate, kind)) }
  }

  private func adding(_ kind: StreamChaos, at rate: InjectionRate) -> Chaos {
    changed(self) { $0.streamChaos.append((rate, kind)) }
  }

  /// The same chaos, told to one more observer: each thing that goes wrong, before it does, with no lock held.
  public func onEvent(_ observer: @escaping @Sendable (ChaosEvent) -> Void) -> Chaos {
    changed(self) { $0.observer = both($0.observer, observer) }
  }

  // MARK: Calls

  /// Some calls are not made and fail.
  public func fault(at rate: InjectionRate, _ error: @escaping @Sendable () -> Failure) -> Chaos {
    adding(.fault(error), at: rate)
  }

  /// Some calls are not made and give this value.
  public func outcome(at rate: InjectionRate, _ value: @escaping @Sendable () -> Output) -> Chaos {
    adding(.outcome(value), at: rate)
  }

  /// Some calls are made later.
  ///
  /// - Parameters:
  ///   - rate: How often.
  ///   - delay: How much; a negative one counts as none.
  public func latency(at rate: InjectionRate, _ delay: Duration) -> Chaos {
    adding(.latency { delay }, at: rate)
  }

  /// Some calls are made later, by a time between two.
  public func latency(at rate: InjectionRate, _ range: ClosedRange<Duration>) -> Chaos {
    adding(
      .latency { [random] in range.lowerBound + (range.upperBound - range.lowerBound) * random.next() },
      at: rate
    )
  }

  /// Before some calls something else is done, such as to empty a cache.
  public func behaviour(at rate: InjectionRate, _ action: @escaping @Sendable () -> Void) -> Chaos {
    adding(.behaviour(action), at: rate)
  }

  // MARK: Values and the end

  /// Some values come twice; the second one counts towards the demand.
  public func duplicatingValues(at rate: InjectionRate) -> Chaos {
    adding(.duplicate, at: rate)
  }

  /// Some values come twice although nobody asked: a violation of the contract of publishers.
  public func violatingDemand(at rate: InjectionRate) -> Chaos {
    adding(.excess, at: rate)
  }

  /// Some values come late, and all that is behind them with them.
  public func delayingValues(at rate: InjectionRate, by delay: Duration) -> Chaos {
    adding(.delay(delay.clampedToDelay), at: rate)
  }

  /// Some values come changed, such as a body that breaks off.
  public func corruptingValues(
    at rate: InjectionRate,
    _ change: @escaping @Sendable (Output) -> Output
  ) -> Chaos {
    adding(.corrupt(change), at: rate)
  }

  /// Some subscriptions never end: their completion is lost.
  public func droppingCompletion(at rate: InjectionRate) -> Chaos {
    adding(.dropCompletion, at: rate)
  }

  /// Some subscriptions deliver on threads that nobody expects: those of a queue of their own.
  public func deliveringElsewhere(at rate: InjectionRate) -> Chaos {
    adding(.elsewhere, at: rate)
  }
}

extension Chaos {
  /// What one call is in for.
  struct Plan {
    /// What is waited for, and what is done then, in order, before the call or what takes its place.
    var steps: [ChaosStep] = []
    var end: Result<Output, Failure>?
    var dropsCompletion = false
    var isElsewhere = false
  }

  /// What one value is in for.
  struct ValuePlan {
    var value: Output
    var delay: Duration?
    var isDuplicated = false
    var isSentInExcess = false
  }

  /// Whether anything may happen to values or the end.
  var touchesStreams: Bool { !streamChaos.isEmpty }

  /// Decides about one call, and does what is to be done before it.
  ///
  /// - Parameter isStream: Whether it is a publisher; a function has no other thread and no second value, so nothing is told of
  ///   them, though the same numbers are drawn.
  func planCall(isStream: Bool) -> Plan {
    var plan = Plan()
    guard isEnabled() else { return plan }
    for (rate, kind) in callChaos where plan.end == nil && rate.hits(random) {
      switch kind {
      case .behaviour(let action):
        observer?(.behaviour)
        if plan.steps.isEmpty { action() } else { plan.steps.append(.action(action)) }
      case .latency(let delay):
        let added = delay().clampedToDelay
        observer?(.latency(added))
        if added > .zero { plan.steps.append(.delay(added)) }
      case .fault(let error):
        let failure = error()
        observer?(.fault(failure))
        plan.end = .failure(failure)
      case .outcome(let value):
        observer?(.outcome)
        plan.end = .success(value())
      }
    }
    for (rate, kind) in streamChaos {
      switch kind {
      case .dropCompletion: plan.dropsCompletion = rate.hits(random) || plan.dropsCompletion
      case .elsewhere: plan.isElsewhere = rate.hits(random) || plan.isElsewhere
      case .duplicate, .excess, .delay, .corrupt: break
      }
    }
    if isStream, plan.isElsewhere { observer?(.deliversElsewhere) }
    return plan
  }

  /// Decides about one value.
  ///
  /// - Parameter isStream: As for ``planCall(isStream:)``.
  func planValue(_ value: Output, isStream: Bool) -> ValuePlan {
    var plan = ValuePlan(value: value)
    guard isEnabled() else { return plan }
    for (rate, kind) in streamChaos {
      switch kind {
      case .dropCompletion, .elsewhere: continue
      case .duplicate where rate.hits(random):
        if isStream { observer?(.duplicatedValue) }
        plan.isDuplicated = true
      case .excess where rate.hits(random):
        if isStream { observer?(.violatedDemand) }
        plan.isSentInExcess = true
      case .delay(let delay) where rate.hits(random):
        observer?(.delayedValue(delay))
        plan.delay = delay
      case .corrupt(let change) where rate.hits(random):
        observer?(.corruptedValue)
        plan.value = change(plan.value)
      case .duplicate, .excess, .delay, .corrupt: break
      }
    }
    return plan
  }

  /// The end of a call is lost.
  func completionIsDropped() {
    observer?(.droppedCompletion)
  }
}

/// Something that goes wrong on purpose.
public enum ChaosEvent: Sendable {
  /// A call is not made and fails.
  case fault(any Error)
  /// A call is not made and gives a value.
  case outcome
  /// A call is made later.
  case latency(Duration)
  /// Before a call something else is done.
  case behaviour
  /// A value comes twice, and the second one counts.
  case duplicatedValue
  /// A value comes twice although nobody asked.
  case violatedDemand
  /// A value comes late.
  case delayedValue(Duration)
  /// A value comes changed.
  case corruptedValue
  /// The end is lost.
  case droppedCompletion
  /// Everything comes on threads that nobody expects.
  case deliversElsewhere
}

extension ChaosEvent: CustomStringConvertible {
  /// One line for a log: "chaos: fault (timedOut)".
  public var description: String {
    switch self {
    case .fault(let error): "chaos: fault (\(error))"
    case .outcome: "chaos: outcome replaced"
    case .latency(let delay): "chaos: latency of \(delay)"
    case .behaviour: "chaos: behaviour"
    case .duplicatedValue: "chaos: value duplicated"
    case .violatedDemand: "chaos: demand violated"
    case .delayedValue(let delay): "chaos: value delayed by \(delay)"
    case .corruptedValue: "chaos: value corrupted"
    case .droppedCompletion: "chaos: completion dropped"
    case .deliversElsewhere: "chaos: delivered on another thread"
    }
  }
}

extension ChaosEvent: PolicyDecision {
  /// That of chaos.
  public static var kind: PolicyKind { .chaos }
  /// A warning, so that nobody takes it for the real thing.
  public var severity: PolicyEvent.Severity { .warning }
  /// The word is "injected".
  public var word: String { "injected" }
  /// The description, which names the kind already.
  public var text: String { description }
}

extension PolicyKind {
  /// That of a ``Chaos``.
  public static let chaos = PolicyKind("chaos")
}

extension Chaos {
  /// Runs an asynchronous function, if nothing goes wrong.
  ///
  /// What is done to the demand, the thread and the end of streams does not concern functions, which are told nothing of it.
  ///
  /// - Parameters:
  ///   - time: Measures time and waits.
  ///   - operation: The call.
  /// - Throws: What the function throws, or what is thrown in its place; ``TimedOut`` if ``Deadline/current`` is over
  ///   in a delay; `CancellationError` if the task was cancelled before, or is in a delay.
  public nonisolated(nonsending) func run(
    time: TimeSource = .current,
    _ operation: nonisolated(nonsending) () async throws -> Output
  ) async throws -> Output {
    try Task.checkCancellation()
    let plan = planCall(isStream: false)
    try await wait(plan.steps, time)
    let value = if let end = plan.end { try end.get() } else { try await operation() }
    let result = planValue(value, isStream: false)
    if let delay = result.delay { try await wait([.delay(delay)], time) }
    return result.value
  }

  /// A call that is spared, as most are, has no execution of its own.
  private nonisolated(nonsending) func wait(_ steps: [ChaosStep], _ time: TimeSource) async throws {
    if !steps.isEmpty { try await ChaosDelay<any Error>(steps: steps).run(time: time) {} }
  }
}
