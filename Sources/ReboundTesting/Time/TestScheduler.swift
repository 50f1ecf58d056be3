import Combine
import Rebound
import StreamSupport

/// A scheduler whose time moves only when a test says so.
///
///     let scheduler = TestScheduler()
///     let recorder = Recorder<String, Never>(on: scheduler)
///     typed.debounce(for: 0.8, scheduler: scheduler).subscribe(recorder)
///
///     typed.send("a")
///     scheduler.advance(by: 0.8)
///     #expect(recorder.values == ["a"])
///
/// Work that is due at the same moment is done in the order in which it was scheduled. Nothing is done before time is
/// advanced, not even work that is due now; `advance()` without an argument does that.
///
/// Work may be scheduled and cancelled from any thread. It is done on the thread that advances; advance from one thread
/// at a time, and not from inside scheduled work.
///
/// - Complexity: Scheduling and doing a piece of work is O(log n) in the pieces that wait; cancelling is O(1),
///   amortised.
public final class TestScheduler: Scheduler, Sendable {
  private struct State {
    var pending = PendingJobs()
    var clock = VirtualTime.start
  }

  /// There are no options.
  public typealias SchedulerOptions = Never

  private let state = Locked(State())

  /// Makes a scheduler with nothing to do, at ``VirtualTime/start``.
  public init() {}

  /// The present moment.
  ///
  /// While work is done, it is the moment for which the work was scheduled.
  public var now: VirtualTime { state.withLock { $0.clock } }

  /// Zero: virtual time is exact.
  public var minimumTolerance: VirtualTime.Stride { .zero }

  /// How much time has passed since the scheduler was made.
  public var elapsed: Duration { .nanoseconds(now.nanoseconds) }

  /// How many pieces of work wait, cancelled ones left out.
  ///
  /// A repeating one counts once.
  public var pendingCount: Int { state.withLock { $0.pending.count } }

  /// The moment for which the next piece of work is scheduled; `nil` if there is none.
  public var nextDue: VirtualTime? { state.withLock { $0.pending.nextDue } }

  /// Schedules work for the present moment, behind whatever was scheduled for it before.
  public func schedule(options: Never?, _ action: @escaping () -> Void) {
    state.withLock { $0.pending.add(Job(every: nil, action), due: $0.clock) }
  }

  /// Schedules work for a moment; for the present one if the moment has passed.
  ///
  /// The tolerance is not used.
  public func schedule(
    after date: VirtualTime,
    tolerance: VirtualTime.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) {
    state.withLock { $0.pending.add(Job(every: nil, action), due: max(date, $0.clock)) }
  }

  /// Schedules work for a moment and again after each interval, until what is returned is cancelled or released.
  ///
  /// The tolerance is not used. The interval is at least a nanosecond; a shorter one counts as that, since time would
  /// never get past it.
  public func schedule(
    after date: VirtualTime,
    interval: VirtualTime.Stride,
    tolerance: VirtualTime.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    let job = Job(every: max(interval, .nanoseconds(1)), action)
    state.withLock { $0.pending.add(job, due: max(date, $0.clock)) }
    // Weak, or work that holds what is returned here would keep itself and the scheduler alive for ever.
    return AnyCancellable { [weak self, weak job] in
      if let self, let job { self.cancel(job) }
    }
  }

  /// Moves time on, and does all work that falls due on the way, in order, also work that is scheduled meanwhile.
  ///
  /// Work that keeps scheduling itself without a pause never lets this return; ``run(limit:)`` does.
  ///
  /// - Parameter stride: How far; none does the work that is due now.
  public func advance(by stride: VirtualTime.Stride = .zero) {
    advance(to: now.advanced(by: stride))
  }

  /// Moves time on to a moment, and does all work that falls due on the way, in order, also work that is scheduled
  /// meanwhile.
  ///
  /// Time does not move back: a moment that has passed stands for the present one.
  public func advance(to date: VirtualTime) {
    let date = max(date, now)
    while doNext(dueBy: date) {}
    state.withLock { $0.clock = max($0.clock, date) }
  }

  /// Does all work there is, also work that is scheduled meanwhile, and moves time on as needed, until nothing waits.
  ///
  /// - Parameter limit: How many pieces of work at most.
  /// - Throws: ``StillBusy`` if work still waits after that many; a repeating piece that nobody cancels is the usual
  ///   reason.
  /// - Returns: How many pieces of work were done.
  @discardableResult
  public func run(limit: Int = 100_000) throws(StillBusy) -> Int {
    var done = 0
    while pendingCount > 0 {
      guard done < limit else { throw StillBusy(limit: limit, now: now, pendingCount: pendingCount) }
      guard doNext(dueBy: VirtualTime(nanoseconds: .max)) else { break }
      done += 1
    }
    return done
  }

  /// Work still waits after as much was done as ``TestScheduler/run(limit:)`` allows.
  public struct StillBusy: Error, Hashable, CustomStringConvertible {
    /// How many pieces of work were allowed.
    public let limit: Int
    /// The moment that was reached.
    public let now: VirtualTime
    /// How many pieces of work wait.
    public let pendingCount: Int

    /// What happened, and what to do about it.
    public var description: String {
      """
      TestScheduler: \(pendingCount) pieces of work still wait at \(now), after \(limit) were done. Cancel what repeats, \
      advance by a fixed time instead, or raise the limit.
      """
    }
  }

  /// Does all work that is due by then, also work that is scheduled meanwhile.
  ///
  /// - Returns: Whether that is all; work may still wait after as much as the limit allows.
  func doAll(dueBy date: VirtualTime, limit: Int) -> Bool {
    var done = 0
    while doNext(dueBy: date) {
      done += 1
      if done == limit { return nextDue.map { $0 > date } ?? true }
    }
    return true
  }

  /// Moves time on to the next piece of work, and does it.
  ///
  /// - Returns: Whether there was one that is due by then.
  func doNext(dueBy date: VirtualTime) -> Bool {
    guard let action = takeAction(dueBy: date) else { return false }
    action()
    return true
  }

  private func takeAction(dueBy date: VirtualTime) -> (() -> Void)? {
    state.withLock { state in
      guard let (job, due) = state.pending.removeFirst(dueBy: date) else { return nil }
      // Another thread may have scheduled this while time moved on.
      state.clock = max(state.clock, due)
      let action = job.action
      if let interval = job.interval {
        state.pending.add(job, due: due.advanced(by: interval))
      } else {
        job.action = nil
      }
      return action
    }
  }

  private func cancel(_ job: Job) {
    // Released with the lock open: what the closure holds may have a deinit of its own.
    let action = state.withLock { state in
      let action = job.action
      job.action = nil
      if action != nil { state.pending.jobWasCancelled() }
      return action
    }
    withExtendedLifetime(action) {}
  }
}

/// A piece of work, done once or again and again.
private final class Job {
  let interval: VirtualTime.Stride?
  /// `nil` when it is done or cancelled.
  var action: (() -> Void)?

  init(every interval: VirtualTime.Stride?, _ action: @escaping () -> Void) {
    self.interval = interval
    self.action = action
  }
}

/// The jobs that wait.
///
/// A cancelled one stays where it is until it comes up, or until cancelled ones are the majority.
private struct PendingJobs {
  private var jobs = DeadlineHeap<VirtualTime, Job>()
  private var cancelledCount = 0

  var count: Int { jobs.count - cancelledCount }

  var nextDue: VirtualTime? { jobs.firstMoment { $0.action != nil } }

  mutating func add(_ job: Job, due: VirtualTime) {
    jobs.insert(job, at: due)
  }

  /// Takes out the first job that is due by then and not cancelled.
  mutating func removeFirst(dueBy date: VirtualTime) -> (Job, VirtualTime)? {
    while let (due, job) = jobs.first {
      guard job.action == nil || due <= date else { return nil }
      _ = jobs.popFirst()
      if job.action != nil { return (job, due) }
      cancelledCount -= 1
    }
    return nil
  }

  mutating func jobWasCancelled() {
    cancelledCount += 1
    guard cancelledCount > 16, cancelledCount > jobs.count / 2 else { return }
    jobs.removeAll { $0.action == nil }
    cancelledCount = 0
  }
}

extension TestScheduler: TimeProviding {
  /// The time of this scheduler, for policies, clients and all else that has a `TimeSource`.
  ///
  ///     request.retry(policy, time: scheduler.time)
  ///
  /// What waits is done when time is advanced. Every source made here goes by the same time.
  public var time: TimeSource {
    TimeSource(
      now: { self.elapsed },
      wallClock: { self.elapsed },
      after: { delay, action in self.schedule(after: delay, action) }
    )
  }

  private func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Cancellable {
    let job = Job(every: nil, action)
    state.withLock { $0.pending.add(job, due: $0.clock.advanced(by: .init(delay.roundedUpToNanoseconds))) }
    return PendingJob(scheduler: self, job: job)
  }

  /// What is let go of is done all the same, as a timer of `TimeSource.system` is: an `AnyCancellable` would end it.
  private struct PendingJob: Cancellable {
    weak var scheduler: TestScheduler?
    weak var job: Job?

    func cancel() {
      if let scheduler, let job { scheduler.cancel(job) }
    }
  }
}
