import Combine
import Dispatch
import Rebound

/// Where a transport gets the time for its limits, and who wakes it when one has passed.
///
///     URLSessionTransport(timers: .dispatch)                       // the default
///     URLSessionTransport(timers: TransportTimers(testScheduler))  // time moves when the test says so
public struct TransportTimers: Sendable {
  /// Calls a waiting timer off; after it has fired, nothing happens.
  typealias Canceller = @Sendable () -> Void

  /// How much time has passed.
  let time: MonotonicTime
  private let scheduleOnce: @Sendable (Duration, @escaping @Sendable () -> Void) -> Canceller

  /// Takes time and timers from a scheduler.
  ///
  /// - Parameter scheduler: Its work should be short and soon; it is only told of limits that have passed.
  public init<Context: Scheduler & Sendable>(_ scheduler: Context) {
    let start = SchedulerMoment(scheduler.now)
    time = MonotonicTime { Duration(measured: start.value.distance(to: scheduler.now)) }
    scheduleOnce = { delay, action in
      let due = scheduler.now.advanced(by: Context.SchedulerTimeType.Stride(max(delay, .zero)))
      // A repeating piece of work, because only that can be called off; it is, as soon as it is done once.
      let repeating = RepeatingWork()
      repeating.hold(
        scheduler.schedule(after: due, interval: .seconds(86_400), tolerance: scheduler.minimumTolerance, options: nil)
        {
          if repeating.cancel() { action() }
        }
      )
      return { repeating.cancel() }
    }
  }

  /// Real time, on a dispatch queue of its own.
  public static let dispatch = TransportTimers(DispatchQueue(label: "rebound.transport-timers"))

  /// Does something once, after a while, unless it is called off.
  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Canceller {
    scheduleOnce(delay, action)
  }
}

/// A moment that is only read.
///
/// Unchecked, because a moment is a plain number in every scheduler there is, though the protocol does not say so.
private struct SchedulerMoment<Time: Strideable>: @unchecked Sendable {
  let value: Time

  init(_ value: Time) {
    self.value = value
  }
}
