import StreamSupport

/// A clock whose time passes when a test says so, for code that takes a clock, outside a ``Simulation``.
///
///     let clock = TestClock()
///     let task = Task { try await poll(every: .seconds(60), clock: clock) }
///     await clock.hasSleepers(1)
///     clock.advance(by: .seconds(60))
///
/// Other tasks go on by themselves, so a test waits until they sleep (``hasSleepers(_:)``) before it lets time pass; to let
/// them pause for a while in the hope that they have come so far is what makes tests flake. In a ``Simulation`` none of this
/// is needed: there, every clock is virtual.
public final class TestClock: Clock, Sendable {
  /// A moment: how much time has passed since the clock was made.
  public struct Instant: InstantProtocol {
    /// Since the clock was made.
    public let offset: Duration

    /// This moment, so much later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// How much later another moment is.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether one moment is before another.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var ids = 0
    var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
    /// Cancelled before they slept.
    var cancelled: Set<Int> = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// Takes out those who wait for no more sleepers than there are.
    mutating func contentWatchers() -> [CheckedContinuation<Void, Never>] {
      let content = watchers.filter { $0.count <= sleepers.count }
      watchers.removeAll { $0.count <= sleepers.count }
      return content.map(\.continuation)
    }
  }

  private let state = Locked(State())

  /// Makes a clock that stands at zero.
  public init() {}

  /// The present moment.
  public var now: Instant { state.withLock { $0.now } }

  /// It is exact.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Waits until a test has let so much time pass; a moment that is past returns at once.
  ///
  /// - Throws: `CancellationError` if the task is cancelled, at once.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    let id = state.withLock { state in
      state.ids += 1
      return state.ids
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { fallAsleep(id, until: deadline, $0) }
    } onCancel: {
      cancel(id)
    }
  }

  /// Lets time pass, and wakes those whose time has come, the earliest first.
  public func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: max(duration, .zero))
      let now = state.now
      let due = state.sleepers.filter { $0.value.deadline <= now }
      for id in due.keys { state.sleepers[id] = nil }
      return due
    }
    for (_, sleeper) in due.sorted(by: { ($0.value.deadline.offset, $0.key) < ($1.value.deadline.offset, $1.key) }) {
      sleeper.continuation.resume()
    }
  }

  /// Returns when so many tasks sleep, or more.
  public func hasSleepers(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let content = state.withLock { state in
        state.watchers.append((count, continuation))
        return state.contentWatchers()
      }
      for watcher in content { watcher.resume() }
    }
  }

  private func fallAsleep(_ id: Int, until deadline: Instant, _ continuation: CheckedContinuation<Void, any Error>) {
    let (result, content): (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) = state.withLock { state in
      if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
      if deadline <= state.now { return (.success(()), []) }
      state.sleepers[id] = (deadline, continuation)
      return (nil, state.contentWatchers())
    }
    if let result { continuation.resume(with: result) }
    for watcher in content { watcher.resume() }
  }

  private func cancel(_ id: Int) {
    let sleeper = state.withLock { state in
      let sleeper = state.sleepers.removeValue(forKey: id)
      if sleeper == nil { state.cancelled.insert(id) }
      return sleeper
    }
    sleeper?.continuation.resume(throwing: CancellationError())
  }
}
