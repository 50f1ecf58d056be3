import Combine
import Foundation
import StreamSupport

/// Where whoever executes something gets the time, and where it waits.
///
///     let time = TimeSource(queue)                           // a scheduler's time
///     request.retry(policy, time: time)
///     try await policy.run(time: TimeSource(SuspendingClock())) { try await client.send(request) }
///
/// A client, a pipeline, a store and a call of `run` have one. What executions share (a breaker, a limiter, a budget, a
/// cache) has none: each execution brings its own present. So a test says its time once, at the outside:
///
///     try await TimeSource.$current.withValue(scheduler.time) { try await weather.run { … } }
///
/// Time is a length since some moment that all sources of real time share; it never goes back.
public struct TimeSource: Sendable {
  /// The source for whoever is given none: ``system``, unless a task or a test says otherwise.
  @TaskLocal public static var current = TimeSource.system

  /// The system's continuous clock, which runs on while the system sleeps.
  ///
  /// All who wait share one timer of the system. It never fires early. Actions run on a concurrent queue.
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
  ///   - after: Calls a closure after so long, once, on any thread, unless what it returns is cancelled before. The
  ///     closure may come before `after` returns. A delay of zero or less is as soon as possible.
  public init(
    now: @escaping @Sendable () -> Duration,
    wallClock: @escaping @Sendable () -> Duration = TimeSource.deviceClock,
    after: @escaping @Sendable (_ delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Cancellable
  ) {
    custom = CustomTime(now: now, wallClock: wallClock, after: after)
  }

  /// The present by the device's clock, since the beginning of 1970; it jumps when somebody sets it.
  public static let deviceClock: @Sendable () -> Duration = {
    Duration(saturatingSeconds: Date().timeIntervalSince1970)
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
  /// - Parameters:
  ///   - delay: Zero or less is as soon as possible.
  ///   - action: Called on a thread of the source, possibly before this returns.
  public func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Cancellable {
    if let custom { return custom.after(delay.clampedToDelay, action) }
    if let diverted = SystemTimers.diverted { return diverted.after(delay, action) }
    return TimerWheel.system.schedule(after: delay.clampedToDelay, .elsewhere, action)
  }

  /// Does something that takes no time after a pause: it runs where the timers are kept.
  @usableFromInline
  func soon(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Cancellable {
    if let custom { return custom.after(delay.clampedToDelay, action) }
    if let diverted = SystemTimers.diverted { return diverted.soon(after: delay, action) }
    return TimerWheel.system.schedule(after: delay.clampedToDelay, .here, action)
  }

  /// Waits in an asynchronous function.
  ///
  /// - Parameters:
  ///   - duration: How long; zero or less returns at once.
  ///   - isolation: The caller's.
  /// - Throws: `CancellationError` if the task is cancelled, at once.
  public func sleep(for duration: Duration, isolation: isolated (any Actor)? = #isolation) async throws {
    try Task.checkCancellation()
    guard duration > .zero else { return }
    let sleeper = Sleeper()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        sleeper.sleep(continuation)
        sleeper.keep(soon(after: duration) { sleeper.wake(.success(())) })
      }
    } onCancel: {
      sleeper.wake(.failure(CancellationError()))
    }
  }

  @usableFromInline static let start = ContinuousClock.now

  @usableFromInline
  static var systemNow: Duration { start.duration(to: .now) }
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

/// One who waits in an asynchronous function, until time or a cancel wakes it.
private final class Sleeper: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Void, any Error>?
    var timer: (any Cancellable)?
    var result: Result<Void, any Error>?
  }

  private let state = Locked(State())

  func sleep(_ continuation: CheckedContinuation<Void, any Error>) {
    let result = state.withLock { state in
      if state.result == nil { state.continuation = continuation }
      return state.result
    }
    if let result { continuation.resume(with: result) }
  }

  func keep(_ timer: any Cancellable) {
    let isAsleep = state.withLock { state in
      if state.result == nil { state.timer = timer }
      return state.result == nil
    }
    if !isAsleep { timer.cancel() }
  }

  func wake(_ result: Result<Void, any Error>) {
    let before: State? = state.withLock { state in
      guard state.result == nil else { return nil }
      let before = state
      state = State(result: result)
      return before
    }
    before?.timer?.cancel()
    before?.continuation?.resume(with: result)
  }
}
