import StreamSupport

/// A clock whose time moves only when a test says so.
///
/// Unchecked, because the lock guards what changes; who waits is woken with the lock open.
final class SteppedClock: Clock, @unchecked Sendable {
  typealias Instant = JumpingClock.Instant

  private struct Sleeper {
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct Watcher {
    let count: Int
    let continuation: CheckedContinuation<Void, any Error>
  }

  private let lock = Lock()
  private var instant = Instant(sinceStart: .zero)
  private var sleepers: [Int: Sleeper] = [:]
  private var watchers: [Int: Watcher] = [:]
  private var cancelled: Set<Int> = []
  private var lastNumber = 0

  var now: Instant { lock.withLock { instant } }
  var minimumResolution: Duration { .zero }
  /// How many sleep now.
  var sleeperCount: Int { lock.withLock { sleepers.count } }

  /// Moves time on, and wakes those whose moment has come.
  func advance(by duration: Duration) {
    let due = lock.withLock {
      instant = instant.advanced(by: duration)
      let due = sleepers.filter { $0.value.deadline <= instant }
      for number in due.keys { sleepers[number] = nil }
      return due.values.sorted { $0.deadline < $1.deadline }
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Returns as soon as that many sleep, or more.
  ///
  /// - Throws: `CancellationError`, so that a test ends whose time is over.
  func untilAsleep(_ count: Int) async throws {
    try await wait { number, continuation in
      if sleepers.count >= count { return [continuation] }
      watchers[number] = Watcher(count: count, continuation: continuation)
      return []
    }
  }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await wait { number, continuation in
      if deadline <= instant { return [continuation] }
      sleepers[number] = Sleeper(deadline: deadline, continuation: continuation)
      let due = watchers.filter { $0.value.count <= sleepers.count }
      for number in due.keys { watchers[number] = nil }
      return due.values.map(\.continuation)
    }
  }

  /// Waits until the continuation is resumed, or the task is cancelled.
  ///
  /// - Parameter begin: Called with the lock held; returns whom to wake.
  private func wait(
    _ begin: (Int, CheckedContinuation<Void, any Error>) -> [CheckedContinuation<Void, any Error>]
  ) async throws {
    let number = lock.withLock {
      lastNumber += 1
      return lastNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let woken = lock.withLock { cancelled.remove(number) == nil ? begin(number, continuation) : nil }
        guard let woken else { return continuation.resume(throwing: CancellationError()) }
        for other in woken { other.resume() }
      }
    } onCancel: {
      let waiting = lock.withLock {
        let waiting =
          sleepers.removeValue(forKey: number)?.continuation ?? watchers.removeValue(forKey: number)?.continuation
        if waiting == nil { cancelled.insert(number) }
        return waiting
      }
      waiting?.resume(throwing: CancellationError())
    }
  }
}
