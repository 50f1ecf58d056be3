import Combine
import Dispatch
import Foundation
import Rebound

/// Where a client gets its time: a scheduler to wait on, and a wall clock to read HTTP dates by.
public struct ClientTime: Sendable {
  /// Waits, and measures what has passed.
  public let scheduler: AnyTimeScheduler
  /// The present by the device's clock, which may be wrong; nothing is measured with it but dates of servers that send
  /// no date of their own.
  public let wallClock: @Sendable () -> HTTPDate

  /// The same time for policies.
  public let source: TimeSource

  /// Makes a source of time.
  ///
  /// - Parameters:
  ///   - scheduler: Waits, and measures what has passed.
  ///   - wallClock: The present by the device's clock.
  public init<Context: Scheduler & Sendable>(
    scheduler: Context,
    wallClock: @escaping @Sendable () -> HTTPDate = ClientTime.deviceClock
  ) {
    self.scheduler = AnyTimeScheduler(scheduler)
    self.wallClock = wallClock
    source = TimeSource(scheduler)
  }

  /// The clock of the device.
  public static let deviceClock: @Sendable () -> HTTPDate = {
    HTTPDate(secondsSinceEpoch: Int64(Date().timeIntervalSince1970.rounded(.down)))
  }

  /// A dispatch queue, and the clock of the device.
  public static let system = ClientTime(scheduler: DispatchQueue(label: "ReboundHTTP.time", qos: .userInitiated))

  /// How much time has passed since this was made.
  var elapsed: Duration { scheduler.elapsed }

  /// The same time for policies that share state.
  public var monotonic: MonotonicTime { MonotonicTime { [scheduler] in scheduler.elapsed } }
}

/// Any scheduler, in the time of a dispatch queue.
public struct AnyTimeScheduler: Scheduler, Sendable {
  /// A dispatch queue's.
  public typealias SchedulerTimeType = DispatchQueue.SchedulerTimeType
  /// There are no options.
  public typealias SchedulerOptions = Never

  private let base: any Base

  /// Makes a scheduler that hands everything to another.
  public init<Context: Scheduler & Sendable>(_ scheduler: Context) {
    base = Schedule(scheduler)
  }

  var elapsed: Duration { base.elapsed }

  /// The present moment.
  public var now: SchedulerTimeType {
    // A second after the start of time, since zero stands for the present in Dispatch.
    SchedulerTimeType(DispatchTime(uptimeNanoseconds: 1_000_000_000 + elapsed.wholeNanoseconds))
  }

  /// Zero: what the scheduler below tolerates is up to it.
  public var minimumTolerance: SchedulerTimeType.Stride { .zero }

  /// Does work as soon as possible.
  public func schedule(options: Never?, _ action: @escaping () -> Void) {
    base.schedule(action)
  }

  /// Does work at a moment.
  public func schedule(
    after date: SchedulerTimeType,
    tolerance: SchedulerTimeType.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) {
    base.schedule(after: delay(until: date), action)
  }

  /// Does work at a moment, and again after each interval.
  public func schedule(
    after date: SchedulerTimeType,
    interval: SchedulerTimeType.Stride,
    tolerance: SchedulerTimeType.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    base.schedule(after: delay(until: date), interval: .nanoseconds(interval.magnitude), action)
  }

  private func delay(until date: SchedulerTimeType) -> Duration {
    .nanoseconds(max(now.distance(to: date).magnitude, 0))
  }

  /// An object, because times are copied with each call, and a box for a value costs more to copy.
  fileprivate protocol Base: AnyObject, Sendable {
    var elapsed: Duration { get }
    func schedule(_ action: @escaping () -> Void)
    func schedule(after delay: Duration, _ action: @escaping () -> Void)
    func schedule(after delay: Duration, interval: Duration, _ action: @escaping () -> Void) -> any Cancellable
  }
}

/// Hands work to a scheduler, and measures how much of its time has passed.
///
/// Unchecked, because nothing changes, and what measures reads a moment in a scheduler's time, which is a value whatever
/// its type says about itself.
private final class Schedule<Context: Scheduler & Sendable>: AnyTimeScheduler.Base, @unchecked Sendable {
  private let scheduler: Context
  private let measure: () -> Duration

  init(_ scheduler: Context) {
    self.scheduler = scheduler
    if scheduler is DispatchQueue {
      // Its time is the same for all queues, and is read in each call.
      let start = DispatchTime.now().uptimeNanoseconds
      measure = { .nanoseconds(Int64(clamping: max(DispatchTime.now().uptimeNanoseconds, start) - start)) }
    } else {
      let start = scheduler.now
      measure = { Duration(measured: start.distance(to: scheduler.now)) }
    }
  }

  var elapsed: Duration { measure() }

  func schedule(_ action: @escaping () -> Void) {
    scheduler.schedule(action)
  }

  func schedule(after delay: Duration, _ action: @escaping () -> Void) {
    scheduler.schedule(after: moment(delay), action)
  }

  func schedule(after delay: Duration, interval: Duration, _ action: @escaping () -> Void) -> any Cancellable {
    scheduler.schedule(after: moment(delay), interval: .init(interval.clampedToDelay), action)
  }

  private func moment(_ delay: Duration) -> Context.SchedulerTimeType {
    scheduler.now.advanced(by: .init(delay.clampedToDelay))
  }
}

extension Duration {
  /// A length of a scheduler's time; zero for a negative one.
  init<Stride: SchedulerTimeIntervalConvertible & Comparable & SignedNumeric>(measured stride: Stride) {
    // Dispatch says how many nanoseconds they are; of others that is found by trial, which takes far longer.
    if let stride = stride as? DispatchQueue.SchedulerTimeType.Stride {
      self = .nanoseconds(max(stride.magnitude, 0))
    } else {
      self.init(approximating: stride)
    }
  }

  fileprivate var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = clampedToDelay.components
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
