import Combine
import StreamSupport

// MARK: - The machine

extension PolicySubscription {
  /// Has the machine told, by this thread or the one that is asking it.
  @inlinable
  func notice(_ event: PendingEvents) {
    lock.lock()
    pending.insert(event)
    let isMine = asking.enter()
    lock.unlock()
    if isMine { work() }
  }

  /// Tells the machine of a value that is to be delivered.
  ///
  /// - Returns: Whether it still is: whoever hears of what the machine decides may cancel.
  @inlinable
  func noticeValue() -> Bool {
    notice(.values)
    lock.lock()
    // An end that waits for this value comes behind it.
    let isWanted = !isOver || heldEnd != nil
    lock.unlock()
    return isWanted
  }

  /// Tells the machine what there is to tell, and subscribes as long as an attempt is due.
  ///
  /// An attempt that fails while it is being subscribed to makes the next one due and returns; this loop, further up on the
  /// stack, gets to it. So any number of synchronous failures takes the same stack.
  ///
  /// Called by whoever has entered `asking`.
  @inlinable
  func work() {
    var asks = true
    lock.lock()
    // Each turn begins and ends with the lock held.
    while true {
      if asks {
        let event = takeEvent()
        guard event.isEmpty else {
          execution.deliveredCount = deliveredByAttempt
          execution.isValueAwaited = owed > .none
          lock.unlock()
          tell(event)
          lock.lock()
          continue
        }
        if Applied.Machine.isTimed, hasMachine, !isOver {
          lock.unlock()
          setTimer()
          lock.lock()
          // Whatever has come meanwhile is told first.
          if !pending.isEmpty, phase != .due { continue }
        }
        asking.leave()
        asks = false
      }
      guard phase == .due, !Applied.Machine.isTimed || deliveries == 0, subscribing.enter() else {
        return lock.unlock()
      }
      phase = .subscribing
      attempt += 1
      toSkip = skipsDelivered ? delivered : 0
      deliveredByAttempt = 0
      let (deadline, setsDeadline) = (attemptDeadline, setsDeadline)
      let recipe = ends.access { $0.pointee.upstream }
      let next = PolicyAttempt(attempt, of: self)
      // What the attempt before was given up for says nothing about this one.
      let before = isJudging ? rejected.take() : nil
      lock.unlock()
      withExtendedLifetime(before) {}
      // Also none in place of one: this may go on in the task of somebody who has a deadline of their own.
      if setsDeadline {
        Deadline.replaced(by: deadline) { recipe.subscribe(next) }
      } else {
        recipe.subscribe(next)
      }
      lock.lock()
      subscribing.leave()
      if !pending.isEmpty, asking.enter() { asks = true }
    }
  }

  /// Lets the loop begin an attempt, unless one is under way.
  ///
  /// - Parameter isFirst: Whether that is where the execution began, so that its deadline is the current one.
  @inlinable @inline(__always)
  func makeDue(isFirst: Bool = false) {
    guard hasMachine else { return }
    // Here, where the machine is asked: the loop may be at work on another thread.
    let own = machine.access { $0.pointee.deadline }
    let skips = machine.access { $0.pointee.skipsDelivered }
    let deadline = nearer(own)
    lock.lock()
    if phase == .idle {
      phase = .due
      attemptDeadline = deadline
      setsDeadline = !isFirst || own != nil
      skipsDelivered = skips
    }
    lock.unlock()
  }

  /// The machine's deadline, or that of the execution if it is nearer.
  @inlinable @inline(__always)
  func nearer(_ own: Deadline?) -> Deadline? {
    let outer = execution.ownDeadline
    return own.map { $0.nearer(outer) } ?? outer
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
    if isAbandonment(error, under: execution.ownDeadline) { return abandon(with: error) }
    let decision = machine.access { $0.pointee.failed(with: error, execution) }
    switch decision {
    case .proceed: end(withFailure: error)
    case .fail(let other): end(withFailure: other)
    default: carryOut(decision)
    }
  }

  /// The attempt has ended with a cancel inside of it, of which the machine hears as of any other.
  @usableFromInline
  func abandon(with error: Failure) {
    machine.access { $0.pointee.cancelled(execution) }
    // A cancel from outside that comes meanwhile is not to be told besides.
    forgetMachine()
    end(with: .failure(error))
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
  @inlinable
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
    case .timer: tellTime()
    default: break
    }
  }

  /// Tells the machine that the time has come for which it has a timer.
  @usableFromInline
  func tellTime() {
    // A scheduler whose time stands still, or that is early by its tolerance, has let this much time pass all the same.
    lock.lock()
    execution.floor = timers.due
    lock.unlock()
    let decision = machine.access { $0.pointee.timerFired(execution) }
    execution.floor = nil
    switch decision {
    // What runs, runs on, and what waits, waits on.
    case .proceed: return
    case .wait, .park: if giveUpAttempt() { carryOut(decision) }
    case .finish, .fail, .refuse: carryOut(decision)
    }
  }

  /// By whoever is asking it.
  @inlinable @inline(__always)
  func forgetMachine() {
    guard hasMachine else { return }
    hasMachine = false
    let last = machine.access { $0.move() }
    machine.close()
    withExtendedLifetime(last) {}
  }

  /// Does what the machine has decided.
  @inlinable
  func carryOut(_ decision: Decision<Failure>) {
    switch decision {
    case .proceed: makeDue()
    case .wait(let pause): wait(for: pause)
    case .park(let register): park(register)
    case .finish: end(with: .finished)
    case .fail(let error): end(with: .failure(error))
    case .refuse(let error): refuse(with: error)
    }
  }

  @usableFromInline
  func wait(for pause: Duration) {
    lock.lock()
    guard !isOver else { return lock.unlock() }
    if pause <= .zero {
      // Asked again by the loop that is at it.
      pending.insert(.waitOver)
      return lock.unlock()
    }
    let number = timers.beginWait()
    lock.unlock()
    keep(execution.time.ring(self, -number, .after(pause)), asWait: number)
  }

  @usableFromInline
  func park(_ register: (Waker) -> Void) {
    lock.lock()
    hasParked = true
    lock.unlock()
    // A publisher that is to say when it goes on is subscribed to here.
    let deadline = nearer(machine.access { $0.pointee.deadline })
    Deadline.replaced(by: deadline) { register(Waker(self)) }
  }

  @usableFromInline
  func refuse(with error: any Error) {
    lock.lock()
    let refusal = isOver ? nil : ends.access { $0.pointee.refusal }
    lock.unlock()
    if let failure = refusal?(error) ?? (error as? Failure) { return end(with: .failure(failure)) }
    // Whoever made the publisher has not said what such a failure is.
    DroppedErrors.report(error, by: description)
    end(with: .finished)
  }

  /// The numbers of waits are told as negative ones.
  func timerRang(_ number: Int) {
    if number < 0 { waitIsOver(-number) } else { timerFired(number) }
  }

  /// If it fired on another thread, or synchronously, or the downstream cancelled, this stops it.
  fileprivate func keep(_ timer: PolicyTimers.Pending, asWait number: Int) {
    lock.lock()
    guard timers.waitNumber == number, !isOver else {
      lock.unlock()
      return timer.cancel()
    }
    let before = timers.replaceWait(timer)
    lock.unlock()
    withExtendedLifetime(before) {}
  }

  fileprivate func waitIsOver(_ number: Int) {
    lock.lock()
    guard timers.waitNumber == number, !isOver else { return lock.unlock() }
    _ = timers.beginWait()
    let fired = timers.replaceWait(nil)
    lock.unlock()
    withExtendedLifetime(fired) {}
    notices(self, .waitOver)
  }

  /// Sets the timer for when the machine wants to be asked, unless it is set for then or before.
  ///
  /// A time that moves away is left to the timer that is set: it finds out when it fires.
  @inlinable
  func setTimer() {
    guard let due = machine.access({ $0.pointee.wakeTime }) else { return }
    setTimer(due)
  }

  @usableFromInline
  func setTimer(_ due: Duration) {
    lock.lock()
    guard !isOver, !timers.isSet || timers.due > due else { return lock.unlock() }
    let (number, superseded) = timers.begin(due)
    lock.unlock()
    superseded?.cancel()
    let set = execution.time.ring(self, number, .at(due))
    lock.lock()
    let isWanted = timers.keep(set, under: number)
    lock.unlock()
    if !isWanted { set.cancel() }
  }

  fileprivate func timerFired(_ number: Int) {
    lock.lock()
    guard timers.number == number, timers.isSet else { return lock.unlock() }
    let fired = timers.end()
    lock.unlock()
    withExtendedLifetime(fired) {}
    notices(self, .timer)
  }

  /// Ends it all, unless it is over already; by whoever is asking the machine.
  @inlinable
  func end(with completion: Subscribers.Completion<Failure>) {
    lock.lock()
    guard !isOver else {
      lock.unlock()
      // The downstream has cancelled while the machine was asked, and this was its last word: it hears of no cancel behind it.
      return forgetMachine()
    }
    phase = phase == .running || phase == .subscribing ? .cutOff : .over
    let rest = takeAll()
    let subscription = upstream.take()
    let timers = timers.takeAll()
    let failure = failure.take()
    let rejected = rejected.take()
    pending = []
    let isHeld = deliveries > 0
    if isHeld { hold(completion, for: rest.downstream) }
    lock.unlock()
    forgetMachine()
    subscription.cancel()
    timers.cancel()
    if isHeld { letEndCome() } else { rest.downstream.receive(completion: completion) }
    withExtendedLifetime(failure) {}
    withExtendedLifetime(rejected) {}
  }
}
