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

    /// The failure for an error of the policy's own.
    @usableFromInline
    func failure(for error: any Error) -> Failure? {
      refusal.map { $0(error) } ?? (error as? Failure)
    }

    /// Begins an execution of its own for this subscriber.
    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let execution = PolicySubscription(self, downstream: subscriber)
      subscriber.receive(subscription: execution)
      execution.begin()
    }
  }
}

/// Which values count as failures, and what comes of the last one.
@usableFromInline
struct ValueJudgement<Output, Failure: Error> {
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

/// One subscription under a policy: its attempts, one after the other, seen as one.
///
/// Unchecked, because the lock guards all state but the machine, and is held for a few lines, never while foreign code
/// runs. The machine calls the policy's closures, so it is asked with the lock open, by one thread at a time: whoever has
/// set `isAsking`. What happens meanwhile is noted in `pending`, and that thread goes on with it.
@usableFromInline
final class PolicySubscription<Upstream: Publisher, Applied: Policy, Downstream: Subscriber>: Subscription, Wakeable,
  TimerTarget, CustomStringConvertible, @unchecked Sendable
where
  Applied.Failure == Upstream.Failure, Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure
{
  @usableFromInline typealias Failure = Upstream.Failure
  @usableFromInline typealias Recipe = Publishers.WithPolicy<Upstream, Applied>

  @usableFromInline let lock = Lock()
  @usableFromInline let judgement: ValueJudgement<Upstream.Output, Failure>?
  /// Both go when it is over.
  @exclusivity(unchecked) @usableFromInline var recipe: Recipe?
  @exclusivity(unchecked) @usableFromInline var downstream: Downstream?
  @exclusivity(unchecked) @usableFromInline var subscription: (any Subscription)?
  @exclusivity(unchecked) @usableFromInline var phase = SubscriptionPhase.idle
  @exclusivity(unchecked) @usableFromInline var pending: PendingEvents = []
  @exclusivity(unchecked) @usableFromInline var isAsking = false
  /// Whether some thread is in the loop that subscribes, and will see that another attempt is due.
  @exclusivity(unchecked) @usableFromInline var isLooping = false
  @exclusivity(unchecked) @usableFromInline var hasBegun = false
  /// The number of the attempt that was begun last, from 1.
  @exclusivity(unchecked) @usableFromInline var attempt = 0
  /// What the downstream has requested and not yet received.
  @exclusivity(unchecked) @usableFromInline var owed = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var observesValues = false
  /// How many values were delivered, by all attempts and by the latest, and how many of it are still to be left out.
  @exclusivity(unchecked) @usableFromInline var delivered = 0
  @exclusivity(unchecked) @usableFromInline var deliveredByAttempt = 0
  @exclusivity(unchecked) @usableFromInline var toSkip = 0
  /// What the attempt has failed with, and the value that it was given up for.
  @exclusivity(unchecked) @usableFromInline var failure: Failure?
  @exclusivity(unchecked) @usableFromInline var rejected: Upstream.Output?
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

  /// Used by whoever has set `isAsking`; `nil` when it is over.
  @exclusivity(unchecked) @usableFromInline var machine: Applied.Machine?
  @exclusivity(unchecked) @usableFromInline var execution: ExecutionContext

  @inlinable
  init(_ recipe: Recipe, downstream: Downstream) {
    self.recipe = recipe
    self.downstream = downstream
    judgement = recipe.judgement
    execution = ExecutionContext(time: recipe.time, origin: recipe.origin, deadline: Deadline.current)
  }

  deinit {
    // Forgotten by both sides: nobody waits for it any more.
    if hasBegun, phase != .over { machine?.cancelled(execution) }
  }

  @usableFromInline
  var description: String { "\(Applied.self)" }

  /// Starts the first attempt, unless the downstream has cancelled already.
  @inlinable
  func begin() {
    lock.lock()
    guard phase == .idle, let recipe else { return lock.unlock() }
    isAsking = true
    hasBegun = true
    lock.unlock()
    var machine = recipe.policy.makeMachine(execution)
    let decision = machine.begins(execution)
    observesValues = machine.observesValues
    self.machine = machine
    if case .proceed = decision { makeDue() } else { carryOut(decision) }
    work()
  }

  // MARK: What an attempt tells

  @inlinable
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

  @inlinable
  func receive(_ input: Upstream.Output, of attempt: Int) -> Subscribers.Demand {
    lock.lock()
    guard phase == .running, attempt == self.attempt, owed > .none, let downstream else {
      lock.unlock()
      return .none
    }
    if toSkip > 0 {
      toSkip -= 1
      lock.unlock()
      // What is left out is made good.
      return .max(1)
    }
    if let judgement {
      lock.unlock()
      if let error = judgement.rejection(input) {
        reject(input, with: error, of: attempt)
        return .none
      }
      lock.lock()
      guard phase == .running, attempt == self.attempt, owed > .none else {
        lock.unlock()
        return .none
      }
    }
    owed -= 1
    delivered += 1
    deliveredByAttempt += 1
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

  /// Gives an attempt up for a value that counts as a failure.
  @usableFromInline
  func reject(_ input: Upstream.Output, with error: Failure, of attempt: Int) {
    lock.lock()
    guard phase == .running, attempt == self.attempt else { return lock.unlock() }
    phase = .idle
    failure = error
    rejected = input
    let subscription = subscription
    self.subscription = nil
    lock.unlock()
    subscription?.cancel()
    notice(.failure)
  }

  @inlinable
  func receive(_ completion: Subscribers.Completion<Failure>, of attempt: Int) {
    lock.lock()
    // An upstream that ends without a subscription breaks the rules, but is not waited for.
    guard phase == .running || phase == .subscribing, attempt == self.attempt else {
      let isLate = phase == .cutOff && attempt == self.attempt
      lock.unlock()
      if isLate, case .failure(let error) = completion { DroppedErrors.report(error, by: description) }
      return
    }
    phase = .idle
    let subscription = subscription
    self.subscription = nil
    let event: PendingEvents
    switch completion {
    case .finished: event = .finish
    case .failure(let error):
      failure = error
      event = .failure
    }
    lock.unlock()
    withExtendedLifetime(subscription) {}
    notice(event)
  }

  // MARK: What the downstream asks

  @inlinable
  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    lock.lock()
    let begins = owed == .none
    owed += demand
    let running = phase == .running ? subscription : nil
    let isObserved = observesValues && begins && phase != .over
    lock.unlock()
    if isObserved { notice(.values) }
    running?.request(demand)
  }

  @usableFromInline
  func cancel() {
    lock.lock()
    guard phase != .over, phase != .cutOff else { return lock.unlock() }
    let rest = takeAll()
    phase = .over
    pending = hasBegun ? .cancel : []
    lock.unlock()
    rest.subscription?.cancel()
    rest.wait?.cancel()
    rest.timer?.cancel()
    if hasBegun { notice(.cancel) }
    // Released here, with the lock open: the last reference to a publisher or subscriber may run its deinit.
    withExtendedLifetime(rest) {}
  }

  /// Something other than time has come that the machine waited for.
  @usableFromInline
  func wake() {
    // One who leaves wakes the next, who may end at once and wake another: without this, as many frames as there wait.
    Trampoline.run([{ self.notice(.woken) }])
  }

  /// What is let go of at the end.
  @usableFromInline
  struct Rest {
    @usableFromInline var recipe: Recipe?
    @usableFromInline var downstream: Downstream?
    @usableFromInline var subscription: (any Subscription)?
    @usableFromInline var wait: (any Cancellable)?
    @usableFromInline var timer: (any Cancellable)?
    @usableFromInline var rejected: Upstream.Output?

    @inlinable
    init(_ recipe: Recipe?, _ downstream: Downstream?, _ subscription: (any Subscription)?) {
      self.recipe = recipe
      self.downstream = downstream
      self.subscription = subscription
    }
  }

  /// Takes out all that is held; with the lock held.
  @inlinable
  func takeAll() -> Rest {
    var rest = Rest(recipe, downstream, subscription)
    rest.wait = wait
    rest.timer = timer
    rest.rejected = rejected
    recipe = nil
    downstream = nil
    subscription = nil
    wait = nil
    timer = nil
    rejected = nil
    failure = nil
    isTimerSet = false
    return rest
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
        if Applied.Machine.isTimed, phase != .over, phase != .cutOff {
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
      guard phase == .due, !isLooping, let recipe else { return lock.unlock() }
      isLooping = true
      phase = .subscribing
      attempt += 1
      toSkip = skipsDelivered ? delivered : 0
      deliveredByAttempt = 0
      let deadline = attemptDeadline
      let next = PolicyAttemptSubscriber(attempt, of: self)
      lock.unlock()
      if let deadline {
        Deadline.$current.withValue(deadline) { recipe.upstream.subscribe(next) }
      } else {
        recipe.upstream.subscribe(next)
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
  @inlinable
  func makeDue() {
    // Here, where the machine is asked: the loop may be at work on another thread.
    let deadline = machine?.deadline.map { $0.nearer(execution.ownDeadline) } ?? execution.ownDeadline
    let skips = machine?.skipsDelivered ?? false
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
  @inlinable
  func takeEvent() -> PendingEvents {
    // An attempt that has its go-ahead is subscribed to, however soon something else comes behind it.
    let next = phase == .due ? pending.subtracting(.woken) : pending
    if next.isEmpty { return [] }
    // The lowest bit is the first.
    let first = PendingEvents(rawValue: next.rawValue & (0 &- next.rawValue))
    pending.remove(first)
    return first
  }

  @inlinable
  func tell(_ event: PendingEvents) {
    switch event {
    case .finish:
      guard let decision = machine?.succeeded(execution) else { return }
      if case .proceed = decision { end(with: .finished) } else { carryOut(decision) }
    case .failure:
      guard let error = failure else { return }
      tellFailure(error)
    default: tellOther(event)
    }
  }

  @usableFromInline
  func tellFailure(_ error: Failure) {
    failure = nil
    guard let decision = machine?.failed(with: error, execution) else { return }
    switch decision {
    case .proceed: end(withFailure: error)
    case .fail(let other): end(withFailure: other)
    default: carryOut(decision)
    }
  }

  /// Ends it with a failure, unless the value that it stands for is delivered after all.
  private func end(withFailure error: Failure) {
    guard let rejected, judgement?.lastValue == .isDelivered else { return end(with: .failure(error)) }
    lock.lock()
    let downstream = phase == .over ? nil : downstream
    lock.unlock()
    _ = downstream?.receive(rejected)
    end(with: .finished)
  }

  @usableFromInline
  func tellOther(_ event: PendingEvents) {
    switch event {
    case .cancel:
      machine?.cancelled(execution)
      machine = nil
    case .values:
      machine?.valuesCame(execution)
    case .waitOver:
      guard let decision = machine?.begins(execution) else { return }
      carryOut(decision)
    case .woken:
      guard let decision = machine?.woken(execution) else { return }
      carryOut(decision)
    case .timer:
      // A scheduler whose time stands still, or that is early by its tolerance, has let this much time pass all the same.
      execution.floor = timerDue
      guard let decision = machine?.timerFired(execution) else { return }
      execution.floor = nil
      carryOut(decision)
    default: break
    }
  }

  /// Does what the machine has decided.
  @usableFromInline
  func carryOut(_ decision: Decision<Failure>) {
    switch decision {
    case .proceed: makeDue()
    case .wait(let pause) where pause <= .zero:
      // Asked again by the loop that is at it.
      lock.lock()
      if phase != .over { pending.insert(.waitOver) }
      lock.unlock()
    case .wait(let pause):
      lock.lock()
      guard phase != .over, let recipe else { return lock.unlock() }
      waitNumber += 1
      let number = waitNumber
      lock.unlock()
      let target: any TimerTarget = self
      keep(recipe.time.after(pause) { target.timerRang(-number) }, asWait: number)
    case .park(let register):
      register(Waker(self))
    case .finish: end(with: .finished)
    case .fail(let error): end(with: .failure(error))
    case .refuse(let error):
      lock.lock()
      let recipe = recipe
      lock.unlock()
      guard let recipe else { return }
      if let failure = recipe.failure(for: error) { return end(with: .failure(failure)) }
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
    guard waitNumber == number, phase != .over else {
      lock.unlock()
      return timer.cancel()
    }
    wait = timer
    lock.unlock()
  }

  private func waitIsOver(_ number: Int) {
    lock.lock()
    guard waitNumber == number, phase != .over else { return lock.unlock() }
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
  @usableFromInline
  func setTimer() {
    guard let due = machine?.wakeTime else { return }
    lock.lock()
    guard !(isTimerSet && timerDue <= due), phase != .over, let recipe else { return lock.unlock() }
    timerNumber += 1
    let number = timerNumber
    let superseded = timer
    timer = nil
    timerDue = due
    isTimerSet = true
    lock.unlock()
    superseded?.cancel()
    let target: any TimerTarget = self
    let set = recipe.time.after(due - recipe.time.now) { target.timerRang(number) }
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

  /// Ends it all, unless it is over already.
  @usableFromInline
  func end(with completion: Subscribers.Completion<Failure>) {
    lock.lock()
    guard phase != .over, phase != .cutOff else { return lock.unlock() }
    phase = phase == .running || phase == .subscribing ? .cutOff : .over
    let rest = takeAll()
    pending = []
    lock.unlock()
    machine = nil
    rest.subscription?.cancel()
    rest.wait?.cancel()
    rest.timer?.cancel()
    rest.downstream?.receive(completion: completion)
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
