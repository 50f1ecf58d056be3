import Combine
import Rebound
import StreamSupport

/// A scheduler that must not be used: it reports every use, and does no work.
///
///     let model = SearchModel(scheduler: UnimplementedScheduler("the pause after typing") { Issue.record($0) })
///     model.clear()   // fails the test if clearing waits for anything
///
/// For a test that claims that time plays no part.
public final class UnimplementedScheduler: Scheduler, Sendable {
  /// There are no options.
  public typealias SchedulerOptions = Never

  /// One use of a scheduler that must not be used.
  public struct Use: Error, Hashable, CustomStringConvertible {
    /// Which scheduler.
    public let scheduler: String
    /// What was asked of it.
    public let call: String

    /// What happened, and what to do about it.
    public var description: String {
      """
      UnimplementedScheduler "\(scheduler)": \(call) was called, but the test says that time plays no part. Give the \
      code a TestScheduler if it may wait, or find out why it does.
      """
    }
  }

  /// What it stands for, for its reports.
  public let name: String
  private let report: @Sendable (Use) -> Void
  private let reported = Locked<[Use]>([])

  /// Makes a scheduler that must not be used.
  ///
  /// - Parameters:
  ///   - name: What it stands for.
  ///   - report: Gets each use, on the thread of it: with Swift Testing `{ Issue.record($0) }`, with XCTest
  ///     `{ XCTFail("\($0)") }`. Without one, look at ``uses``.
  public init(_ name: String, report: @escaping @Sendable (Use) -> Void = { _ in }) {
    self.name = name
    self.report = report
  }

  /// All uses, in order.
  public var uses: [Use] { reported.withLock { $0 } }

  /// Reports the use, and gives ``VirtualTime/start``.
  public var now: VirtualTime {
    use("now")
    return .start
  }

  /// Zero; to ask for it is no use.
  public var minimumTolerance: VirtualTime.Stride { .zero }

  /// Reports the use; the work is not done.
  public func schedule(options: Never?, _ action: @escaping () -> Void) {
    use("schedule")
  }

  /// Reports the use; the work is not done.
  public func schedule(
    after date: VirtualTime,
    tolerance: VirtualTime.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) {
    use("schedule(after: \(date))")
  }

  /// Reports the use; the work is not done.
  public func schedule(
    after date: VirtualTime,
    interval: VirtualTime.Stride,
    tolerance: VirtualTime.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    use("schedule(after: \(date), interval: \(interval))")
    return AnyCancellable {}
  }

  private func use(_ call: String) {
    let use = Use(scheduler: name, call: call)
    reported.withLock { $0.append(use) }
    report(use)
  }
}

extension UnimplementedScheduler: TimeProviding {
  /// A time that must not be used, for policies, clients and all else that has a `TimeSource`: it reports every use.
  public var time: TimeSource {
    TimeSource(
      now: { self.now.elapsed },
      wallClock: { self.now.elapsed },
      after: { delay, _ in
        self.use("after(\(delay))")
        return AnyCancellable {}
      }
    )
  }
}

extension VirtualTime {
  fileprivate var elapsed: Duration { .nanoseconds(nanoseconds) }
}
