import Combine
import Rebound
import StreamSupport

/// A serial queue of a simulation, for what takes a scheduler: dispatch queues do as well there, but have no virtual time outside.
///
///     let storage = SimulatedDisk().outboxStorage(at: "/orders")
///     let outbox = Outbox("orders", storage: storage, scheduler: SimulatedScheduler(), delivering: deliver)
///
/// Work is done one piece after the other, in the order in which it was scheduled; when the next piece is done, beside all
/// else that can run, is a choice of the schedule. Its time is the simulation's. Without a simulation it works in the time that it is given.
///
/// Work may be scheduled and cancelled from any thread.
public final class SimulatedScheduler: Scheduler, TimeProviding, Sendable {
  private struct State {
    var mailbox = Queue<Work>()
    var loop = DrainLoop()
  }

  /// One thread calls an action, once, as every scheduler does.
  private typealias Work = Confined<() -> Void>

  /// There are no options.
  public typealias SchedulerOptions = Never

  private let source: TimeSource
  private let start: Duration
  private let state = Locked(State())

  /// Makes a queue with nothing to do, at ``VirtualTime/start``.
  ///
  /// - Parameter time: The time that it works in.
  public init(time: TimeSource = .current) {
    source = time
    start = time.now
  }

  /// The present moment.
  public var now: VirtualTime { VirtualTime(nanoseconds: (source.now - start).wholeNanoseconds) }

  /// Zero: virtual time is exact.
  public var minimumTolerance: VirtualTime.Stride { .zero }

  /// The time, with timers that go off on the queue.
  public var time: TimeSource {
    TimeSource(
      now: { [source] in source.now },
      wallClock: { [source] in source.wallClock },
      after: { delay, action in
        let timer = SimulatedTimer(action)
        let alarm = self.source.after(delay) { self.perform(timer.fire) }
        return AnyCancellable {
          alarm.cancel()
          timer.cancel()
        }
      }
    )
  }

  /// Schedules work behind whatever was scheduled before.
  public func schedule(options: Never?, _ action: @escaping () -> Void) {
    perform(action)
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
    let work = Work(action)
    wait(for: now.distance(to: date).duration) { self.perform(work.value) }
  }

  /// Schedules work for a moment and again after each interval, until what is returned is cancelled or released.
  ///
  /// The tolerance is not used. The interval is at least a nanosecond.
  public func schedule(
    after date: VirtualTime,
    interval: VirtualTime.Stride,
    tolerance: VirtualTime.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    let work = Work(action)
    let repetition = Repetition(every: max(interval.duration, .nanoseconds(1)), on: time) { work.value() }
    repetition.wait(for: now.distance(to: date).duration)
    return AnyCancellable(repetition.cancel)
  }

  private func perform(_ action: @escaping () -> Void) {
    let work = Work(action)
    let isFirst = state.withLock { state in
      state.mailbox.append(work)
      return state.loop.enter()
    }
    if isFirst { workLater() }
  }

  /// One piece for each timer: between two of them, others can run.
  private func workLater() {
    wait(for: .zero) {
      let next = self.state.withLock { $0.mailbox.popFirst() }
      next?.value()
      let goesOn = self.state.withLock { $0.loop.next($0.mailbox.first) != nil }
      if goesOn { self.workLater() }
    }
  }

  /// Goes on after a while, also in a time that ends a timer when what it returns is released.
  private func wait(for delay: Duration, _ next: @escaping @Sendable () -> Void) {
    let timer = OneShot(next)
    timer.keep(source.after(delay) { timer.fire() })
  }
}

/// Work that is done again and again.
final class Repetition: Sendable {
  private struct State {
    var timer: (any Cancellable)?
    var isCancelled = false
  }

  private let interval: Duration
  private let time: TimeSource
  private let action: @Sendable () -> Void
  private let state = Locked(State())

  init(every interval: Duration, on time: TimeSource, _ action: @escaping @Sendable () -> Void) {
    self.interval = interval
    self.time = time
    self.action = action
  }

  func wait(for delay: Duration) {
    let timer = time.after(delay) {
      guard !self.state.withLock({ $0.isCancelled }) else { return }
      self.action()
      self.wait(for: self.interval)
    }
    let isCancelled = state.withLock { state in
      state.timer = timer
      return state.isCancelled
    }
    if isCancelled { timer.cancel() }
  }

  func cancel() {
    let timer = state.withLock { state in
      state.isCancelled = true
      return state.timer
    }
    timer?.cancel()
  }
}
