import Combine
import StreamSupport

extension Publishers {
  /// A publisher under a ``Policy``.
  ///
  /// Made by the operators of the policies, and by ``Combine/Publisher/protected(by:time:)``.
  ///
  /// - Demand: Passes up while an attempt runs; what is owed when one ends is requested from the next. Values beyond the
  ///   demand are dropped.
  /// - Failure: The upstream's, or what the policy puts in its place.
  /// - Threads: Where the upstream sends. An attempt that has waited is subscribed to on a thread of the time source, or
  ///   where it was woken.
  public struct WithPolicy<Upstream: Publisher, Applied: Policy>: Publisher where Applied.Failure == Upstream.Failure {
    /// What the upstream publishes.
    public typealias Output = Upstream.Output
    /// What the upstream fails with.
    public typealias Failure = Upstream.Failure

    /// The publisher of the attempts.
    public let upstream: Upstream
    /// What is done about it.
    public let policy: Applied
    /// Measures time and waits.
    public let time: TimeSource
    @usableFromInline let refusal: ((any Error) -> Failure)?
    @usableFromInline var judgement: ValueJudgement<Output, Failure>?
    @usableFromInline var origin: DecisionOrigin?

    /// Puts a policy around a publisher.
    ///
    /// - Parameters:
    ///   - upstream: The publisher of the attempts.
    ///   - policy: What is done about it.
    ///   - time: Measures time and waits.
    ///   - refusal: The failure for an error of the policy's own; `nil` for a policy that has none, or whose errors are
    ///     failures of the upstream's type.
    @inlinable
    public init(
      upstream: Upstream,
      policy: Applied,
      time: TimeSource = .current,
      refusal: ((any Error) -> Failure)? = nil
    ) {
      self.upstream = upstream
      self.policy = policy
      self.time = time
      self.refusal = refusal
    }

    /// Begins an execution of its own for this subscriber.
    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let execution = PolicySubscription(self, downstream: subscriber)
      subscriber.receive(subscription: execution)
      execution.begin(policy)
    }
  }
}

/// Which values count as failures, and what comes of the last one.
@usableFromInline
final class ValueJudgement<Output, Failure: Error> {
  @usableFromInline let rejection: (Output) -> Failure?
  @usableFromInline let lastValue: RejectedValue

  @inlinable
  init(rejection: @escaping (Output) -> Failure?, lastValue: RejectedValue) {
    self.rejection = rejection
    self.lastValue = lastValue
  }
}

/// What has happened to a subscription, and its machine has not heard yet.
@usableFromInline
struct PendingEvents: OptionSet {
  @usableFromInline let rawValue: UInt8

  @inlinable
  init(rawValue: UInt8) { self.rawValue = rawValue }

  @inlinable static var cancel: PendingEvents { .init(rawValue: 1) }
  @inlinable static var values: PendingEvents { .init(rawValue: 2) }
  @inlinable static var finish: PendingEvents { .init(rawValue: 4) }
  @inlinable static var failure: PendingEvents { .init(rawValue: 8) }
  @inlinable static var waitOver: PendingEvents { .init(rawValue: 16) }
  @inlinable static var woken: PendingEvents { .init(rawValue: 32) }
  @inlinable static var timer: PendingEvents { .init(rawValue: 64) }
}

/// How far a subscription has come.
@usableFromInline
enum SubscriptionPhase: UInt8 {
  /// Not begun, or it waits, or its machine is being asked.
  case idle
  /// An attempt is to be subscribed to as soon as the loop gets to it.
  case due
  /// Subscribing to the upstream, whose subscription has not come yet.
  case subscribing
  case running
  case over
  /// The machine has ended it while an attempt ran, whose failure may still come.
  case cutOff
}

/// What a subscription holds while it is not over: kept without a type, so that it is cheap to destroy.
@usableFromInline
struct SubscriptionEnds<Upstream: Publisher, Downstream> {
  @usableFromInline let upstream: Upstream
  @usableFromInline let downstream: Downstream
  @usableFromInline let refusal: ((any Error) -> Upstream.Failure)?
  @usableFromInline let judgement: ValueJudgement<Upstream.Output, Upstream.Failure>?

  @inlinable
  init(
    _ upstream: Upstream,
    _ downstream: Downstream,
    _ refusal: ((any Error) -> Upstream.Failure)?,
    _ judgement: ValueJudgement<Upstream.Output, Upstream.Failure>?
  ) {
    self.upstream = upstream
    self.downstream = downstream
    self.refusal = refusal
    self.judgement = judgement
  }
}

/// A value in an object of its own.
@usableFromInline
final class ValueBox<Value> {
  @usableFromInline let value: Value

  @usableFromInline
  init(_ value: Value) { self.value = value }
}

/// One subscription under a policy: its attempts, one after the other, seen as one.
///
/// Unchecked, because the lock guards all state but the machine, and is held for a few lines, never while foreign code
/// runs. The machine calls the policy's closures, so it is asked with the lock open, by one thread at a time: whoever has
/// set `isAsking`. What happens meanwhile is noted in `pending`, and that thread goes on with it.
///
/// What is typed lies in rooms (see `Room`): `ends` is full until the phase is over or cut off, and whoever sets that phase
/// empties it; `machine` is full while `hasMachine`, and emptied by whoever is asking then.
@usableFromInline
final class PolicySubscription<Upstream: Publisher, Applied: Policy, Downstream: Subscriber>: Subscription, Wakeable,
  TimerTarget, CustomStringConvertible, @unchecked Sendable
where
  Applied.Failure == Upstream.Failure, Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure
{
  @usableFromInline typealias Failure = Upstream.Failure
  @usableFromInline typealias Recipe = Publishers.WithPolicy<Upstream, Applied>
  @usableFromInline typealias Ends = SubscriptionEnds<Upstream, Downstream>

  @usableFromInline let lock = Lock()
  @usableFromInline let isJudging: Bool
  @exclusivity(unchecked) @usableFromInline var ends: Room<Ends>
  @exclusivity(unchecked) @usableFromInline var machine: Room<Applied.Machine>
  @exclusivity(unchecked) @usableFromInline var hasMachine = false
  @exclusivity(unchecked) @usableFromInline var subscription: (any Subscription)?
  @exclusivity(unchecked) @usableFromInline var phase = SubscriptionPhase.idle
  @exclusivity(unchecked) @usableFromInline var pending: PendingEvents = []
  @exclusivity(unchecked) @usableFromInline var isAsking = false
  /// Whether some thread is in the loop that subscribes, and will see that another attempt is due.
  @exclusivity(unchecked) @usableFromInline var isLooping = false
  @exclusivity(unchecked) @usableFromInline var hasBegun = false
  @exclusivity(unchecked) @usableFromInline var observesValues = false
  /// The number of the attempt that was begun last, from 1.
  @exclusivity(unchecked) @usableFromInline var attempt = 0
  /// What the downstream has requested and not yet received.
  @exclusivity(unchecked) @usableFromInline var owed = Subscribers.Demand.none
  /// How many values were delivered, by all attempts and by the latest, and how many of it are still to be left out.
  @exclusivity(unchecked) @usableFromInline var delivered = 0
  @exclusivity(unchecked) @usableFromInline var deliveredByAttempt = 0
  @exclusivity(unchecked) @usableFromInline var toSkip = 0
  /// What the attempt has failed with while the machine was asked, and the value that it was given up for.
  @exclusivity(unchecked) @usableFromInline var failure: ValueBox<Failure>?
  @exclusivity(unchecked) @usableFromInline var rejected: ValueBox<Upstream.Output>?
  /// The timers of a wait, and of the machine; those that fire under another number have been superseded.
  @exclusivity(unchecked) @usableFromInline var wait: (any Cancellable)?
  @exclusivity(unchecked) @usableFromInline var waitNumber = 0
  @exclusivity(unchecked) @usableFromInline var timer: (any Cancellable)?
  @exclusivity(unchecked) @usableFromInline var timerNumber = 0
  @exclusivity(unchecked) @usableFromInline var timerDue = Duration.zero
  @exclusivity(unchecked) @usableFromInline var isTimerSet = false
  /// What the next attempt is subscribed to with.
  @exclusivity(unchecked) @usableFromInline var attemptDeadline: Deadline?
  @exclusivity(unchecked) @usableFromInline var skipsDelivered = false
  @exclusivity(unchecked) @usableFromInline var execution: ExecutionContext

  @inlinable
  init(_ recipe: Recipe, downstream: Downstream) {
    ends = Room { $0.initialize(to: Ends(recipe.upstream, downstream, recipe.refusal, recipe.judgement)) }
    machine = Room { _ in }
    isJudging = recipe.judgement != nil
    execution = ExecutionContext(time: recipe.time, origin: recipe.origin, deadline: Deadline.current)
  }

  deinit {
    if hasMachine || !isOver { letGo() }
    ends.close()
    machine.close()
  }

  @inlinable
  var isOver: Bool { phase == .over || phase == .cutOff }

  /// Forgotten by both sides: nobody waits for it any more.
  private func letGo() {
    if hasMachine {
      machine.access {
        $0.pointee.cancelled(execution)
        $0.deinitialize(count: 1)
      }
    }
    if !isOver { ends.access { _ = $0.deinitialize(count: 1) } }
  }

  @usableFromInline
  var description: String { policyName(Applied.self) }

  /// Starts the first attempt, unless the downstream has cancelled already.
  @inlinable @inline(__always)
  func begin(_ policy: Applied) {
    lock.lock()
    guard phase == .idle else { return lock.unlock() }
    isAsking = true
    hasBegun = true
    execution.isValueAwaited = owed > .none
    lock.unlock()
    var made = policy.makeMachine(execution)
    let decision = made.begins(execution)
    observesValues = made.observesValues
    machine.access { $0.initialize(to: made) }
    hasMachine = true
    if case .proceed = decision { makeDue() } else { carryOut(decision) }
    work()
  }

  // MARK: What an attempt tells

  @inlinable @inline(__always)
  func receive(_ subscription: any Subscription, of attempt: Int) {
    lock.lock()
    guard phase == .subscribing, attempt == self.attempt else {
      lock.unlock()
      return subscription.cancel()
    }
    phase = .running
    self.subscription = subscription
    let owed = owed
    lock.unlock()
    if owed > .none { subscription.request(owed) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Upstream.Output, of attempt: Int) -> Subscribers.Demand {
    if isJudging, isRejected(input, of: attempt) { return .none }
    lock.lock()
    guard phase == .running, attempt == self.attempt, owed > .none else {
      lock.unlock()
      return .none
    }
    if toSkip > 0 {
      toSkip -= 1
      lock.unlock()
      // What is left out is made good.
      return .max(1)
    }
    owed -= 1
    delivered += 1
    deliveredByAttempt += 1
    let downstream = ends.access { $0.pointee.downstream }
    lock.unlock()
    if observesValues { notice(.values) }
    let more = downstream.receive(input)
    return more > .none ? answer(more, of: attempt) : .none
  }

  /// The downstream has asked for more in answer to a value.
  ///
  /// - Returns: What the attempt may send for it.
  @usableFromInline
  func answer(_ more: Subscribers.Demand, of attempt: Int) -> Subscribers.Demand {
    lock.lock()
    let begins = owed == .none
    owed += more
    let isCurrent = phase == .running && attempt == self.attempt
    // The upstream may have failed meanwhile, from inside the downstream; then the demand is the next attempt's.
    let successor = phase == .running && !isCurrent ? subscription : nil
    lock.unlock()
    if observesValues, begins { notice(.values) }
    successor?.request(more)
    return isCurrent ? more : .none
  }

  /// Gives an attempt up if a value counts as a failure.
  @usableFromInline
  func isRejected(_ input: Upstream.Output, of attempt: Int) -> Bool {
    lock.lock()
    guard phase == .running, attempt == self.attempt, owed > .none, toSkip == 0 else {
      lock.unlock()
      return false
    }
    let judgement = ends.access { $0.pointee.judgement }
    lock.unlock()
    guard let error = judgement?.rejection(input) else { return false }
    lock.lock()
    guard phase == .running, attempt == self.attempt else {
      lock.unlock()
      return true
    }
    phase = .idle
    failure = ValueBox(error)
    rejected = ValueBox(input)
    let subscription = subscription
    self.subscription = nil
    lock.unlock()
    subscription?.cancel()
    notice(.failure)
    return true
  }

  @inlinable @inline(__always)
  func receive(_ completion: Subscribers.Completion<Failure>, of attempt: Int) {
    lock.lock()
    // An upstream that ends without a subscription breaks the rules, but is not waited for.
    guard phase == .running || phase == .subscribing, attempt == self.attempt else {
      let isLate = phase == .cutOff && attempt == self.attempt
      lock.unlock()
      return isLate ? dropped(completion) : ()
    }
    phase = .idle
    let subscription = subscription
    self.subscription = nil
    guard !isAsking else {
      switch completion {
      case .finished: pending.insert(.finish)
      case .failure(let error):
        failure = ValueBox(error)
        pending.insert(.failure)
      }
      lock.unlock()
      return withExtendedLifetime(subscription) {}
    }
    isAsking = true
    execution.deliveredCount = deliveredByAttempt
    execution.isValueAwaited = owed > .none
    lock.unlock()
    withExtendedLifetime(subscription) {}
    switch completion {
    case .finished: finish()
    case .failure(let error): fail(with: error)
    }
    work()
  }

  @usableFromInline
  func dropped(_ completion: Subscribers.Completion<Failure>) {
    if case .failure(let error) = completion { DroppedErrors.report(error, by: description) }
  }

  // MARK: What the downstream asks

  @inlinable @inline(__always)
  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    lock.lock()
    let begins = owed == .none
    owed += demand
    let running = phase == .running ? subscription : nil
    let isObserved = observesValues && begins && !isOver
    lock.unlock()
    if isObserved { notice(.values) }
    running?.request(demand)
  }

  @inlinable
  func cancel() {
    lock.lock()
    guard !isOver else { return lock.unlock() }
    let rest = takeAll()
    let (subscription, wait, timer) = (subscription, wait, timer)
    forgetAll()
    phase = .over
    pending = []
    let tells = hasBegun
    lock.unlock()
    subscription?.cancel()
    wait?.cancel()
    timer?.cancel()
    if tells { notice(.cancel) }
    // Released here, with the lock open: the last reference to a publisher or subscriber may run its deinit.
    withExtendedLifetime(rest) {}
  }

  /// Something other than time has come that the machine waited for.
  @usableFromInline
  func wake() {
    // One who leaves wakes the next, who may end at once and wake another: without this, as many frames as there wait.
    Trampoline.run([{ self.notice(.woken) }])
  }

  @usableFromInline
  func keep(_ pending: any Cancellable) {
    lock.lock()
    let isWanted = !isOver
    let before = wait
    if isWanted { wait = pending }
    lock.unlock()
    withExtendedLifetime(before) {}
    if !isWanted { pending.cancel() }
  }

  /// Takes out the upstream and the downstream; with the lock held, by whoever sets the phase in which they are gone.
  @inlinable @inline(__always)
  func takeAll() -> Ends { ends.access { $0.move() } }

  /// Forgets what ends with the execution; with the lock held, and released by the caller.
  @inlinable @inline(__always)
  func forgetAll() {
    subscription = nil
    wait = nil
    timer = nil
    failure = nil
    rejected = nil
    isTimerSet = false
  }

  // MARK: The machine

  /// Has the machine told, by this thread or the one that is asking it.
  @inlinable
  func notice(_ event: PendingEvents) {
    lock.lock()
    pending.insert(event)
    guard !isAsking else { return lock.unlock() }
    isAsking = true
    lock.unlock()
    work()
  }

  /// Tells the machine what there is to tell, and subscribes as long as an attempt is due.
  ///
  /// An attempt that fails while it is being subscribed to makes the next one due and returns; this loop, further up on the
  /// stack, gets to it. So any number of synchronous failures takes the same stack.
  ///
  /// Called by whoever has set `isAsking`.
  @inlinable
  func work() {
    var asks = true
    while true {
      lock.lock()
      if asks {
        let event = takeEvent()
        guard event.isEmpty else {
          execution.deliveredCount = deliveredByAttempt
          execution.isValueAwaited = owed > .none
          lock.unlock()
          tell(event)
          continue
        }
        if Applied.Machine.isTimed, hasMachine, !isOver {
          lock.unlock()
          setTimer()
          lock.lock()
          // Whatever has come meanwhile is told first.
          if !pending.isEmpty, phase != .due {
            lock.unlock()
            continue
          }
        }
        isAsking = false
        asks = false
      }
      guard phase == .due, !isLooping else { return lock.unlock() }
      isLooping = true
      phase = .subscribing
      attempt += 1
      toSkip = skipsDelivered ? delivered : 0
      deliveredByAttempt = 0
      let deadline = attemptDeadline
      let upstream = ends.access { $0.pointee.upstream }
      let next = PolicyAttemptSubscriber(attempt, of: self)
      lock.unlock()
      if let deadline {
        Deadline.$current.withValue(deadline) { upstream.subscribe(next) }
      } else {
        upstream.subscribe(next)
      }
      lock.lock()
      isLooping = false
      if !isAsking, !pending.isEmpty {
        isAsking = true
        asks = true
      }
      lock.unlock()
    }
  }

  /// Lets the loop begin an attempt, unless one is under way.
  @inlinable @inline(__always)
  func makeDue() {
    guard hasMachine else { return }
    // Here, where the machine is asked: the loop may be at work on another thread.
    let (own, skips) = machine.access { ($0.pointee.deadline, $0.pointee.skipsDelivered) }
    let deadline = own.map { $0.nearer(execution.ownDeadline) } ?? execution.ownDeadline
    lock.lock()
    if phase == .idle {
      phase = .due
      attemptDeadline = deadline
      skipsDelivered = skips
    }
    lock.unlock()
  }

  /// What the machine hears next, one thing at a time; with the lock held.
  ///
  /// Values come before the end, and the end before a time that is over.
  @inlinable @inline(__always)
  func takeEvent() -> PendingEvents {
    if pending.isEmpty { return [] }
    // An attempt that has its go-ahead is subscribed to, however soon something else comes behind it.
    let next = phase == .due ? pending.subtracting(.woken) : pending
    if next.isEmpty { return [] }
    // The lowest bit is the first.
    let first = PendingEvents(rawValue: next.rawValue & (0 &- next.rawValue))
    pending.remove(first)
    return first
  }

  /// The attempt has finished.
  @inlinable @inline(__always)
  func finish() {
    guard hasMachine else { return }
    let decision = machine.access { $0.pointee.succeeded(execution) }
    if case .proceed = decision { end(with: .finished) } else { carryOut(decision) }
  }

  /// The attempt has failed.
  @inlinable @inline(__always)
  func fail(with error: Failure) {
    guard hasMachine else { return }
    let decision = machine.access { $0.pointee.failed(with: error, execution) }
    switch decision {
    case .proceed: end(withFailure: error)
    case .fail(let other): end(withFailure: other)
    default: carryOut(decision)
    }
  }

  /// Ends it with a failure, unless the value that it stands for is delivered after all.
  @inlinable
  func end(withFailure error: Failure) {
    if isJudging { endJudged(error) } else { end(with: .failure(error)) }
  }

  @usableFromInline
  func endJudged(_ error: Failure) {
    lock.lock()
    let ends = isOver ? nil : self.ends.access { $0.pointee }
    let rejected = rejected
    self.rejected = nil
    lock.unlock()
    guard let rejected, let ends, ends.judgement?.lastValue == .isDelivered else { return end(with: .failure(error)) }
    _ = ends.downstream.receive(rejected.value)
    end(with: .finished)
  }

  /// Tells the machine something that has come while it was asked, or that is not the end of an attempt.
  @usableFromInline
  func tell(_ event: PendingEvents) {
    guard hasMachine else { return }
    switch event {
    case .finish: finish()
    case .failure:
      lock.lock()
      let error = failure
      failure = nil
      lock.unlock()
      if let error { fail(with: error.value) }
    case .cancel:
      machine.access { $0.pointee.cancelled(execution) }
      forgetMachine()
    case .values:
      machine.access { $0.pointee.valuesCame(execution) }
    case .waitOver:
      carryOut(machine.access { $0.pointee.begins(execution) })
    case .woken:
      carryOut(machine.access { $0.pointee.woken(execution) })
    case .timer:
      // A scheduler whose time stands still, or that is early by its tolerance, has let this much time pass all the same.
      execution.floor = timerDue
      let decision = machine.access { $0.pointee.timerFired(execution) }
      execution.floor = nil
      carryOut(decision)
    default: break
    }
  }

  /// By whoever is asking it.
  @inlinable @inline(__always)
  func forgetMachine() {
    guard hasMachine else { return }
    hasMachine = false
    let last = machine.access { $0.move() }
    withExtendedLifetime(last) {}
  }

  /// Does what the machine has decided.
  @usableFromInline
  func carryOut(_ decision: Decision<Failure>) {
    switch decision {
    case .proceed: makeDue()
    case .wait(let pause) where pause <= .zero:
      // Asked again by the loop that is at it.
      lock.lock()
      if !isOver { pending.insert(.waitOver) }
      lock.unlock()
    case .wait(let pause):
      lock.lock()
      guard !isOver else { return lock.unlock() }
      waitNumber += 1
      let number = waitNumber
      lock.unlock()
      let target: any TimerTarget = self
      keep(execution.time.after(pause) { target.timerRang(-number) }, asWait: number)
    case .park(let register):
      register(Waker(self))
    case .finish: end(with: .finished)
    case .fail(let error): end(with: .failure(error))
    case .refuse(let error):
      lock.lock()
      let refusal = isOver ? nil : ends.access { $0.pointee.refusal }
      lock.unlock()
      if let failure = refusal?(error) ?? (error as? Failure) { return end(with: .failure(failure)) }
      // Whoever made the publisher has not said what such a failure is.
      DroppedErrors.report(error, by: description)
      end(with: .finished)
    }
  }

  /// The numbers of waits are told as negative ones.
  func timerRang(_ number: Int) {
    if number < 0 { waitIsOver(-number) } else { timerFired(number) }
  }

  /// If it fired on another thread, or synchronously, or the downstream cancelled, this stops it.
  private func keep(_ timer: any Cancellable, asWait number: Int) {
    lock.lock()
    guard waitNumber == number, !isOver else {
      lock.unlock()
      return timer.cancel()
    }
    wait = timer
    lock.unlock()
  }

  private func waitIsOver(_ number: Int) {
    lock.lock()
    guard waitNumber == number, !isOver else { return lock.unlock() }
    waitNumber += 1
    let fired = wait
    wait = nil
    lock.unlock()
    withExtendedLifetime(fired) {}
    notice(.waitOver)
  }

  /// Sets the timer for when the machine wants to be asked, unless it is set for then or before.
  ///
  /// A time that moves away is left to the timer that is set: it finds out when it fires.
  @inlinable
  func setTimer() {
    guard let due = machine.access({ $0.pointee.wakeTime }) else { return }
    if isTimerSet, timerDue <= due { return }
    setTimer(due)
  }

  @usableFromInline
  func setTimer(_ due: Duration) {
    lock.lock()
    guard !isOver else { return lock.unlock() }
    timerNumber += 1
    let number = timerNumber
    let superseded = timer
    timer = nil
    timerDue = due
    isTimerSet = true
    lock.unlock()
    superseded?.cancel()
    let target: any TimerTarget = self
    let set = execution.time.after(due - execution.time.now) { target.timerRang(number) }
    lock.lock()
    guard timerNumber == number, isTimerSet else {
      lock.unlock()
      return set.cancel()
    }
    timer = set
    lock.unlock()
  }

  private func timerFired(_ number: Int) {
    lock.lock()
    guard timerNumber == number, isTimerSet else { return lock.unlock() }
    isTimerSet = false
    let fired = timer
    timer = nil
    lock.unlock()
    withExtendedLifetime(fired) {}
    notice(.timer)
  }

  /// Ends it all, unless it is over already; by whoever is asking the machine.
  @inlinable
  func end(with completion: Subscribers.Completion<Failure>) {
    lock.lock()
    guard !isOver else { return lock.unlock() }
    phase = phase == .running || phase == .subscribing ? .cutOff : .over
    let rest = takeAll()
    let (subscription, wait, timer) = (subscription, wait, timer)
    forgetAll()
    pending = []
    lock.unlock()
    forgetMachine()
    subscription?.cancel()
    wait?.cancel()
    timer?.cancel()
    rest.downstream.receive(completion: completion)
  }
}

/// The subscriber of one attempt.
///
/// Each attempt has its own, so that whatever a superseded one still sends is known.
@usableFromInline
struct PolicyAttemptSubscriber<Upstream: Publisher, Applied: Policy, Downstream: Subscriber>: Subscriber,
  CustomStringConvertible
where
  Applied.Failure == Upstream.Failure, Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure
{
  @usableFromInline typealias Input = Upstream.Output
  @usableFromInline typealias Failure = Upstream.Failure

  @usableFromInline let number: Int
  @usableFromInline let subscription: PolicySubscription<Upstream, Applied, Downstream>
  @usableFromInline let combineIdentifier = CombineIdentifier()

  @inlinable
  init(_ number: Int, of subscription: PolicySubscription<Upstream, Applied, Downstream>) {
    self.number = number
    self.subscription = subscription
  }

  @usableFromInline var description: String { subscription.description }

  @inlinable
  func receive(subscription upstream: any Subscription) { subscription.receive(upstream, of: number) }

  @inlinable
  func receive(_ input: Input) -> Subscribers.Demand { subscription.receive(input, of: number) }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) { subscription.receive(completion, of: number) }
}
