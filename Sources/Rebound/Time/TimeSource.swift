import Combine
import Foundation

/// Where whoever executes something gets the time, and where it waits.
///
///     let time = TimeSource(queue)                           // a scheduler's time
///     request.retry(policy, time: time)
///     try await breaker.run(time: TimeSource(SuspendingClock())) { try await client.forecast(for: city) }
///
/// A client, a pipeline, a store and a call of `run` have one. What executions share (a breaker, a limiter, a budget, a
/// cache) has none: each execution brings its own present. So a test says its time once, at the outside:
///
///     try await TimeSource.$current.withValue(scheduler.time) { try await weather.run { try await client.forecast(for: city) } }
///
/// Time is a length since some moment that all sources of real time share; it never goes back.
public struct TimeSource: Sendable {
  /// The source for whoever is given none: ``system``, unless a task or a test says otherwise.
  @TaskLocal public static var current = TimeSource.system

  /// The system's continuous clock, which runs on while the system sleeps.
  ///
  /// All who wait share one timer of the system. It never fires early. What comes due while the system sleeps may come no sooner
  /// than another timer is set after that. Actions run on a concurrent queue.
  public static let system = TimeSource(custom: nil)

  /// `nil` for the system's.
  @usableFromInline let custom: CustomTime?

  @usableFromInline
  init(custom: CustomTime?) {
    self.custom = custom
  }

  /// Makes a source from closures: for a clock of one's own, or a simulation.
  ///
  /// - Parameters:
  ///   - now: How much time has passed since some moment. Called on whichever thread needs it.
  ///   - wallClock: The present by the device's clock, since the beginning of 1970.
  ///   - after: Calls a closure after so long, once, on any thread, unless what it returns is cancelled before; to let go
  ///     of that cancels nothing, so it is no `AnyCancellable`. The closure may come before `after` returns. A delay of
  ///     zero or less is as soon as possible.
  public init(
    now: @escaping @Sendable () -> Duration,
    wallClock: @escaping @Sendable () -> Duration = TimeSource.deviceClock,
    after: @escaping @Sendable (_ delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Cancellable
  ) {
    custom = CustomTime(now: now, wallClock: wallClock, after: after)
  }

  /// The present by the device's clock, since the beginning of 1970; it jumps when somebody sets it.
  public static let deviceClock: @Sendable () -> Duration = {
    #if os(Linux) || os(Android)
      read(CLOCK_REALTIME)
    #else
      // No delay, which would be cut off at a time that has passed in 2001.
      .seconds(Date().timeIntervalSince1970)
    #endif
  }

  /// How much time has passed since some moment.
  @inlinable
  public var now: Duration {
    if let custom { return custom.now() }
    return Self.systemNow
  }

  /// The present by the device's clock, since the beginning of 1970: for dates that somebody else has written, and for
  /// nothing else, since it jumps.
  public var wallClock: Duration {
    custom?.wallClock() ?? Self.deviceClock()
  }

  /// The same source with another wall clock.
  ///
  /// - Parameter wallClock: The present, since the beginning of 1970.
  public func withWallClock(_ wallClock: @escaping @Sendable () -> Duration) -> TimeSource {
    TimeSource(now: { now }, wallClock: wallClock, after: { after($0, $1) })
  }

  /// Does something after a pause, once, unless what is returned is cancelled before.
  ///
  /// To let go of what is returned cancels nothing.
  ///
  /// - Parameters:
  ///   - delay: Zero or less is as soon as possible.
  ///   - action: Called on a thread of the source, possibly before this returns.
  public func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Cancellable {
    if let custom { return custom.after(delay.clampedToDelay, action) }
    if let diverted = SystemTimers.diverted { return diverted.after(delay, action) }
    return TimerWheel.system.schedule(at: Self.systemNow + delay.clampedToDelay, .elsewhere, .action(action))
  }

  /// When a timer rings; a moment is one of the time that it is set on.
  enum Due {
    case after(Duration)
    case at(Duration)

    fileprivate func delay(on time: CustomTime) -> Duration {
      switch self {
      case .after(let delay): delay.clampedToDelay
      case .at(let moment): (moment - time.now()).clampedToDelay
      }
    }

    fileprivate var onSystemClock: Duration {
      switch self {
      case .after(let delay): TimeSource.systemNow + delay.clampedToDelay
      case .at(let moment): moment
      }
    }
  }

  /// Tells a target, as ``after(_:_:)`` runs an action.
  ///
  /// - Parameter number: What it is told, so that it knows which of its timers has rung.
  func ring(_ target: any TimerTarget, _ number: Int, _ due: Due) -> any Cancellable & AnyObject {
    if let custom { return ValueBox(custom.after(due.delay(on: custom)) { target.timerRang(number) }) }
    if let diverted = SystemTimers.diverted { return diverted.ring(target, number, due) }
    return TimerWheel.system.schedule(at: due.onSystemClock, .elsewhere, .target(target, number))
  }

  /// Does something that takes no time: it runs where the timers are kept.
  func soon(_ due: Due, _ action: @escaping @Sendable () -> Void) -> any Cancellable {
    if let custom { return custom.after(due.delay(on: custom), action) }
    if let diverted = SystemTimers.diverted { return diverted.soon(due, action) }
    return TimerWheel.system.schedule(at: due.onSystemClock, .here, .action(action))
  }

  /// Waits in an asynchronous function.
  ///
  /// - Parameters:
  ///   - duration: How long; zero or less returns at once.
  /// - Throws: `CancellationError` if the task is cancelled, at once.
  public nonisolated(nonsending) func sleep(for duration: Duration) async throws {
    try await wait(for: duration, until: nil)
  }

  /// Waits in an asynchronous function.
  ///
  /// - Throws: ``TimedOut`` at the deadline, if that comes first; `CancellationError` if the task is cancelled, at once.
  package nonisolated(nonsending) func wait(for duration: Duration, until deadline: Deadline?) async throws {
    try Task.checkCancellation()
    guard duration > .zero else { return }
    let end = deadline.flatMap { $0.remaining < duration ? $0 : nil }
    try await Answer.wait(until: end) { (wake: @escaping @Sendable (Result<Void, Never>) -> Void) in
      soon(.after(duration)) { wake(.success(())) }
    }
  }

  @usableFromInline
  static var systemNow: Duration {
    if let diverted = SystemTimers.diverted { return diverted.now }
    #if os(Linux) || os(Android)
      // The clock of `ContinuousClock`, since the machine's start and not the process's: whoever would keep the first reading may
      // keep a simulated one.
      return read(CLOCK_BOOTTIME)
    #else
      return start.duration(to: .now)
    #endif
  }

  #if os(Linux) || os(Android)
    /// Without the way through the runtime or Foundation, which takes longer than the clock itself.
    private static func read(_ clock: clockid_t) -> Duration {
      var time = timespec()
      clock_gettime(clock, &time)
      return .nanoseconds(Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
  #else
    private static let start = ContinuousClock.now
  #endif
}

/// A source of time that is not the system's.
@usableFromInline
final class CustomTime: Sendable {
  @usableFromInline let now: @Sendable () -> Duration
  let wallClock: @Sendable () -> Duration
  let after: @Sendable (Duration, @escaping @Sendable () -> Void) -> any Cancellable

  init(
    now: @escaping @Sendable () -> Duration,
    wallClock: @escaping @Sendable () -> Duration,
    after: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> any Cancellable
  ) {
    self.now = now
    self.wallClock = wallClock
    self.after = after
  }
}
