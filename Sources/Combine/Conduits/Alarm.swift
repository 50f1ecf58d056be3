import StreamSupport

/// A timer that is put off again and again, and seldom set: the clock of debounce and timeout.
///
/// To put it off costs a leaf lock, while making a timer costs microseconds. So one timer is under way at most. When it
/// fires and the alarm was put off meanwhile, a new one is made for the rest of the time; else the alarm rings, with
/// the payload that it was put off with last.
///
/// Who rings is who was asked to by the scheduler: the clock is read only to tell how long to wait. A scheduler that
/// does all work at once therefore rings at once.
@usableFromInline
final class Alarm<Context: Scheduler, Payload> {
  @usableFromInline typealias Time = Context.SchedulerTimeType

  @usableFromInline let scheduler: Context
  @usableFromInline let options: Context.SchedulerOptions?
  @usableFromInline let interval: Time.Stride
  @usableFromInline let lock = Lock()
  // All guarded by `lock`.
  /// When to ring, if nothing comes between.
  @exclusivity(unchecked) @usableFromInline var due: Time
  @exclusivity(unchecked) @usableFromInline var payload: Payload?
  /// What the timer under way was made for; nil if there is none.
  @exclusivity(unchecked) @usableFromInline var armedFor: Time?
  @exclusivity(unchecked) @usableFromInline var timer: (any Cancellable)?
  /// The number of the timer made last: only that one may ring.
  @exclusivity(unchecked) @usableFromInline var number = 0
  @exclusivity(unchecked) @usableFromInline var isStopped = false

  /// Makes an alarm that is not set.
  ///
  /// - Parameter interval: how long after it was set or put off it rings.
  @inlinable
  init(on scheduler: Context, _ options: Context.SchedulerOptions?, after interval: Time.Stride) {
    self.scheduler = scheduler
    self.options = options
    self.interval = interval
    due = scheduler.now
  }

  /// Sets the alarm, or puts it off, and replaces the payload.
  ///
  /// - Parameter makeJob: makes what the scheduler is to do with the number of a timer when it fires: call
  ///   ``ring(_:_:)``. Called if a timer is needed, which is seldom.
  @inlinable @inline(__always)
  func putOff(_ payload: Payload, _ makeJob: () -> (Int) -> Void) {
    let due = scheduler.now.advanced(by: interval)
    lock.lock()
    guard !isStopped else {
      lock.unlock()
      return
    }
    let replaced = self.payload
    self.payload = payload
    self.due = due
    if armedFor == nil {
      arm(unlockingWith: makeJob())
    } else {
      lock.unlock()
    }
    // Outside the lock: values may run code of their own when they go.
    withExtendedLifetime(replaced) {}
  }

  /// Answers the timer of this number: hands out the payload if the alarm rings.
  @usableFromInline
  func ring(_ number: Int, _ job: @escaping (Int) -> Void) -> Payload? {
    let now = scheduler.now
    lock.lock()
    guard number == self.number, let armedFor else {
      // A timer that fired once more before it could be cancelled.
      lock.unlock()
      return nil
    }
    let fired = timer
    timer = nil
    if due > armedFor, due > now {
      arm(unlockingWith: job)
      fired?.cancel()
      return nil
    }
    self.armedFor = nil
    let payload = payload
    self.payload = nil
    lock.unlock()
    fired?.cancel()
    return payload
  }

  /// Makes a timer for `due`.
  ///
  /// Called with the lock held, and opens it.
  @usableFromInline
  func arm(unlockingWith job: @escaping (Int) -> Void) {
    number &+= 1
    let (number, due) = (number, due)
    armedFor = due
    lock.unlock()
    let timer = scheduler.schedule(
      after: due,
      interval: interval,
      tolerance: scheduler.minimumTolerance,
      options: options
    ) { job(number) }
    lock.lock()
    let isStillWanted = self.number == number && armedFor != nil
    if isStillWanted { self.timer = timer }
    lock.unlock()
    if !isStillWanted { timer.cancel() }
  }

  /// Ends the alarm for good.
  @usableFromInline
  func stop() {
    lock.lock()
    isStopped = true
    armedFor = nil
    let held = (timer, payload)
    timer = nil
    payload = nil
    lock.unlock()
    held.0?.cancel()
    withExtendedLifetime(held.1) {}
  }

  /// The payload, while the alarm is set.
  @usableFromInline
  var current: Payload? {
    lock.lock()
    defer { lock.unlock() }
    return payload
  }
}
