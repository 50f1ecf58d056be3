import StreamSupport

/// A timer that is put off again and again, and seldom set: the clock of debounce and timeout.
///
/// To postpone it costs a leaf lock, while scheduling a job costs microseconds. So one job is under way at most. When it
/// runs and the timer was postponed meanwhile, a new one is scheduled for the rest of the time; else the timer fires, with
/// the payload that it was postponed with last.
///
/// A calendar clock may be set back. Then a job that waits for a time of the old reckoning is replaced when the timer is
/// postponed next, and none is ever scheduled for longer than the interval.
///
/// It fires when the scheduler runs the job: the clock is read only to tell how long to wait. With a scheduler that
/// does all work at once it therefore fires at once.
@usableFromInline
final class RearmingTimer<Context: Scheduler, Payload> {
  @usableFromInline typealias Time = Context.SchedulerTimeType

  @usableFromInline let scheduler: Context
  @usableFromInline let options: Context.SchedulerOptions?
  @usableFromInline let interval: Time.Stride
  @usableFromInline let lock = Lock()
  // All guarded by `lock`.
  /// When to fire, if nothing comes between.
  @exclusivity(unchecked) @usableFromInline var due: Time
  @exclusivity(unchecked) @usableFromInline var payload: Payload?
  /// What the job under way was scheduled for; nil if there is none.
  @exclusivity(unchecked) @usableFromInline var armedFor: Time?
  @exclusivity(unchecked) @usableFromInline var job: (any Cancellable)?
  /// The number of the job scheduled last: only that one may fire the timer.
  @exclusivity(unchecked) @usableFromInline var number = 0
  @exclusivity(unchecked) @usableFromInline var isStopped = false

  /// Makes a timer that is not set.
  ///
  /// - Parameter interval: how long after it was set or postponed it fires.
  @inlinable
  init(on scheduler: Context, _ options: Context.SchedulerOptions?, after interval: Time.Stride) {
    self.scheduler = scheduler
    self.options = options
    self.interval = interval
    due = scheduler.now
  }

  /// Sets the timer, or postpones it, and replaces the payload.
  ///
  /// - Parameter makeJob: makes what the scheduler is to do, with the number of the job: call ``fire(_:_:)``. Called if
  ///   a job is needed, which is seldom.
  @inlinable @inline(__always)
  func postpone(_ payload: Payload, _ makeJob: () -> (Int) -> Void) {
    let due = scheduler.now.advanced(by: interval)
    lock.lock()
    guard !isStopped else {
      lock.unlock()
      return
    }
    let replaced = self.payload
    self.payload = payload
    self.due = due
    if let armedFor, due >= armedFor {
      lock.unlock()
    } else {
      arm(unlockingWith: makeJob())
    }
    // Outside the lock: values may run code of their own when they go.
    withExtendedLifetime(replaced) {}
  }

  /// Answers the job of this number: hands out the payload if the timer fires.
  @usableFromInline
  func fire(_ number: Int, _ work: @escaping (Int) -> Void) -> Payload? {
    let now = scheduler.now
    lock.lock()
    guard number == self.number, let armedFor else {
      // A job that ran once more before it could be cancelled.
      lock.unlock()
      return nil
    }
    let done = job
    job = nil
    if due > armedFor, due > now {
      due = min(due, now.advanced(by: interval))
      arm(unlockingWith: work)
      done?.cancel()
      return nil
    }
    self.armedFor = nil
    let payload = payload
    self.payload = nil
    lock.unlock()
    done?.cancel()
    return payload
  }

  /// Schedules a job for `due`, in place of the one under way.
  ///
  /// Called with the lock held, and opens it.
  @usableFromInline
  func arm(unlockingWith work: @escaping (Int) -> Void) {
    number &+= 1
    let (number, due, outdated) = (number, due, job)
    armedFor = due
    job = nil
    lock.unlock()
    outdated?.cancel()
    let job = scheduler.schedule(
      after: due,
      interval: interval,
      tolerance: scheduler.minimumTolerance,
      options: options
    ) { work(number) }
    lock.lock()
    let isStillWanted = self.number == number && armedFor != nil
    if isStillWanted { self.job = job }
    lock.unlock()
    if !isStillWanted { job.cancel() }
  }

  /// Ends the timer for good.
  @usableFromInline
  func stop() {
    lock.lock()
    isStopped = true
    armedFor = nil
    let held = (job, payload)
    job = nil
    payload = nil
    lock.unlock()
    held.0?.cancel()
    withExtendedLifetime(held.1) {}
  }

  /// The payload, while the timer is set.
  @usableFromInline
  var current: Payload? {
    lock.lock()
    defer { lock.unlock() }
    return payload
  }
}
