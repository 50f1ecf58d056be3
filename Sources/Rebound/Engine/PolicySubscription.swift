import Combine
import StreamSupport

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
/// is in the loop `asking`. What happens meanwhile is noted in `pending`, and that thread goes on with it.
///
/// What is typed lies in inline storage (see `InlineStorage`): `ends` is full until the phase is over or cut off, and whoever sets that phase
/// empties it; `machine` is full while `hasMachine`, and emptied by whoever is asking then.
@usableFromInline
final class PolicySubscription<Upstream: Publisher, Applied: Policy, Downstream: Subscriber>:
  PolicyExecution<Upstream.Output, Upstream.Failure>, Subscription, Wakeable, TimerTarget, @unchecked Sendable
where
  Applied.Failure == Upstream.Failure, Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure
{
  @usableFromInline typealias Failure = Upstream.Failure
  @usableFromInline typealias Ends = SubscriptionEnds<Upstream, Downstream>

  @usableFromInline let lock = Lock()
  @usableFromInline let isJudging: Bool
  @exclusivity(unchecked) @usableFromInline var ends: InlineStorage<Ends>
  @exclusivity(unchecked) @usableFromInline var machine: InlineStorage<Applied.Machine>
  @exclusivity(unchecked) @usableFromInline var hasMachine = false
  @exclusivity(unchecked) @usableFromInline var upstream = SubscriptionSlot()
  @exclusivity(unchecked) @usableFromInline var phase = SubscriptionPhase.idle
  @exclusivity(unchecked) @usableFromInline var pending: PendingEvents = []
  /// Who asks the machine; entered from the start, since nobody has made it before it begins.
  @exclusivity(unchecked) @usableFromInline var asking = DrainLoop(isEntered: true)
  /// Who subscribes, and will see that another attempt is due.
  @exclusivity(unchecked) @usableFromInline var subscribing = DrainLoop()
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
  @exclusivity(unchecked) @usableFromInline var timers = PolicyTimers()
  /// Whether a waker may end it while an attempt runs, as a timer may.
  @exclusivity(unchecked) @usableFromInline var hasParked = false
  /// Who keeps the end waiting, or the next attempt: values that are being delivered, and whoever ends it meanwhile and is not
  /// done with that.
  @exclusivity(unchecked) @usableFromInline var deliveries = 0
  /// Delivers the end that has come while a value was delivered; done by the last of them.
  @exclusivity(unchecked) @usableFromInline var heldEnd: ValueBox<() -> Void>?
  /// What the next attempt is subscribed to with, and whether that is to be said: the first one has it from where it is made.
  @exclusivity(unchecked) @usableFromInline var attemptDeadline: Deadline?
  @exclusivity(unchecked) @usableFromInline var setsDeadline = false
  @exclusivity(unchecked) @usableFromInline var skipsDelivered = false
  @exclusivity(unchecked) @usableFromInline var execution: ExecutionContext

  @inlinable
  init(
    _ upstream: Upstream,
    _ downstream: Downstream,
    _ refusal: ((any Error) -> Failure)?,
    _ judgement: ValueJudgement<Upstream.Output, Failure>?,
    time: TimeSource,
    origin: DecisionOrigin?
  ) {
    isJudging = judgement != nil
    ends = InlineStorage { $0.initialize(to: Ends(upstream, downstream, refusal, judgement)) }
    machine = InlineStorage { _ in }
    execution = ExecutionContext(time: time, origin: origin, deadline: Deadline.current)
    super.init(
      // Downcasts: who calls hands over the execution that has these closures, and this is it.
      receivesSubscription: { unsafeDowncast($0, to: PolicySubscription.self).receive($1, of: $2) },
      receivesValue: { unsafeDowncast($0, to: PolicySubscription.self).receive($1, of: $2) },
      receivesEnd: { unsafeDowncast($0, to: PolicySubscription.self).receive($1, of: $2) },
      notices: { unsafeDowncast($0, to: PolicySubscription.self).notice($1) }
    )
  }

  deinit {
    upstream.take().release()
    if hasMachine || !isOver || !hasBegun { letGo() }
  }

  @inlinable
  var isOver: Bool { phase == .over || phase == .cutOff }

  /// Forgotten by both sides: nobody waits for it any more.
  private func letGo() {
    if hasMachine {
      execution.deliveredCount = deliveredByAttempt
      machine.access {
        $0.pointee.cancelled(execution)
        $0.deinitialize(count: 1)
      }
    }
    if hasMachine || !hasBegun { machine.close() }
    if !isOver {
      ends.access { _ = $0.deinitialize(count: 1) }
      ends.close()
    }
  }

  @usableFromInline
  override var description: String { policyName(Applied.self) }

  /// Starts the first attempt, unless the downstream has cancelled already.
  @inlinable @inline(__always)
  func begin(_ policy: Applied) {
    lock.lock()
    guard phase == .idle else { return lock.unlock() }
    hasBegun = true
    execution.isValueAwaited = owed > .none
    // One copy for both, and not one for each.
    let execution = execution
    lock.unlock()
    // Where it stays: to move it there would copy it.
    machine.access { $0.initialize(to: policy.makeMachine(execution)) }
    let decision = machine.access { $0.pointee.begins(execution) }
    if machine.access({ $0.pointee.observesValues }) {
      lock.lock()
      observesValues = true
      // What was requested while the machine was asked is not in what it was told, and nobody else tells it.
      if owed > .none, !execution.isValueAwaited { pending.insert(.values) }
      lock.unlock()
    }
    hasMachine = true
    if case .proceed = decision { makeDue(isFirst: true) } else { carryOut(decision) }
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
    upstream.put(subscription)
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
    let isObserved = observesValues
    // All others end it where their upstream sends, and that is one event at a time.
    let holdsEnd = Applied.Machine.isTimed || hasParked
    if holdsEnd { deliveries += 1 }
    lock.unlock()
    if isObserved, !noticeValue() {
      if holdsEnd { letEndCome() }
      return .none
    }
    let more = downstream.receive(input)
    if holdsEnd { letEndCome() }
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
    let successor: (any Subscription)? = phase == .running && !isCurrent ? upstream.subscription : nil
    let isObserved = observesValues && begins
    lock.unlock()
    if isObserved { notice(.values) }
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
    let subscription = upstream.take()
    lock.unlock()
    subscription.cancel()
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
    let subscription = upstream.take()
    guard asking.enter() else {
      switch completion {
      case .finished: pending.insert(.finish)
      case .failure(let error):
        failure = ValueBox(error)
        pending.insert(.failure)
      }
      lock.unlock()
      return subscription.release()
    }
    execution.deliveredCount = deliveredByAttempt
    execution.isValueAwaited = owed > .none
    lock.unlock()
    subscription.release()
    switch completion {
    case .finished: finish()
    case .failure(let error): fail(with: error)
    }
    // Who has no machine any more has nothing to tell it.
    if hasMachine { work() }
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
    let isObserved = observesValues && begins && !isOver
    guard phase == .running else {
      lock.unlock()
      return isObserved ? notice(.values) : ()
    }
    let running = upstream.subscription
    lock.unlock()
    if isObserved { notice(.values) }
    running.request(demand)
  }

  @inlinable
  func cancel() {
    lock.lock()
    guard !isOver else {
      // The end may still wait for a value, from inside of which this may come.
      let unwanted = heldEnd.take()
      lock.unlock()
      return withExtendedLifetime(unwanted) {}
    }
    let rest = takeAll()
    let subscription = upstream.take()
    let timers = timers.takeAll()
    let failure = failure.take()
    let rejected = rejected.take()
    phase = .over
    pending = []
    let tells = hasBegun
    lock.unlock()
    subscription.cancel()
    timers.cancel()
    if tells { notice(.cancel) }
    // Released here, with the lock open: the last reference to a publisher, a subscriber or an error may run its deinit.
    withExtendedLifetime(rest) {}
    withExtendedLifetime(failure) {}
    withExtendedLifetime(rejected) {}
  }

  /// Something other than time has come that the machine waited for.
  @usableFromInline
  func wake() {
    // One who leaves wakes the next, who may end at once and wake another: without this, as many frames as there wait. What goes
    // on here is no part of the call of who leaves.
    Trampoline.run([{ DecisionOrigin.left { self.notices(self, .woken) } }])
  }

  @usableFromInline
  func keep(_ pending: any Cancellable) {
    lock.lock()
    let isWanted = !isOver
    let before = isWanted ? timers.replaceWait(ValueBox(pending)) : nil
    lock.unlock()
    withExtendedLifetime(before) {}
    if !isWanted { pending.cancel() }
  }

  /// Takes out the upstream and the downstream; with the lock held, by whoever sets the phase in which they are gone.
  @inlinable @inline(__always)
  func takeAll() -> Ends {
    let rest = ends.access { $0.move() }
    ends.close()
    return rest
  }

}
