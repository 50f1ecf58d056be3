import Combine
import StreamSupport

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
}
