import Combine
import Rebound
import StreamSupport

/// A scheduler that makes time jump: work for a later moment is done before `schedule` returns.
///
///     let recorder = Recorder<String, Never>()
///     Just("a").delay(for: .seconds(3600), scheduler: ImmediateTestScheduler()).subscribe(recorder)
///     #expect(recorder.values == ["a"])
///
/// For tests that do not care when things happen. Work that schedules more work gets it done in the order of the
/// moments, after the work at hand, so the stack stays flat however long the chain is.
///
/// - Warning: An operator that waits to see what comes next finds that its time is over at once. `debounce` lets every
///   value pass, `timeout` fails before the first value, `collect` by time gives groups of one. Repeating work is done
///   once and never again, since its time has no end. Work that keeps scheduling itself never lets `schedule` return, as
///   a poll that is repeated for ever. Give such chains a ``TestScheduler``.
///
/// Work may be scheduled from any thread; it is done by the first thread that is there.
public final class ImmediateTestScheduler: Scheduler, Sendable {
  /// There are no options.
  public typealias SchedulerOptions = Never

  private let agenda = TestScheduler()
  private let loop = Locked(DrainLoop())

  /// Makes a scheduler at ``VirtualTime/start``.
  public init() {}

  /// The latest moment for which work was done.
  public var now: VirtualTime { agenda.now }

  /// Zero: virtual time is exact.
  public var minimumTolerance: VirtualTime.Stride { .zero }

  /// Does work now.
  public func schedule(options: Never?, _ action: @escaping () -> Void) {
    agenda.schedule(action)
    work()
  }

  /// Lets time jump to the moment, and does the work.
  public func schedule(
    after date: VirtualTime,
    tolerance: VirtualTime.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) {
    agenda.schedule(after: date, action)
    work()
  }

  /// Lets time jump to the moment, and does the work once.
  public func schedule(
    after date: VirtualTime,
    interval: VirtualTime.Stride,
    tolerance: VirtualTime.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    let pending = Pending(action)
    agenda.schedule(after: date, pending.run)
    work()
    return AnyCancellable(pending.cancel)
  }

  private func work() {
    // Once more after the others were let in: one may have scheduled something and left it to this thread.
    while agenda.nextDue != nil, loop.withLock({ $0.enter() }) {
      while let due = agenda.nextDue { agenda.advance(to: due) }
      loop.withLock { $0.leave() }
    }
  }

  /// Repeating work that can still be cancelled, because it was scheduled by work that goes on.
  private final class Pending {
    private let lock = Lock()
    private var action: (() -> Void)?

    init(_ action: @escaping () -> Void) {
      self.action = action
    }

    func run() { take()?() }

    func cancel() { withExtendedLifetime(take()) {} }

    private func take() -> (() -> Void)? {
      lock.withLock {
        let action = self.action
        self.action = nil
        return action
      }
    }
  }
}

extension ImmediateTestScheduler: TimeProviding {
  /// The time of this scheduler, for policies, clients and all else that has a `TimeSource`.
  ///
  /// What waits is done before `after` returns, and `sleep` returns at once.
  public var time: TimeSource {
    TimeSource(
      now: { self.agenda.elapsed },
      wallClock: { self.agenda.elapsed },
      after: { delay, action in
        let timer = self.agenda.time.after(delay, action)
        self.work()
        return timer
      }
    )
  }
}
