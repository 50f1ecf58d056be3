import StreamSupport

/// A clock whose time moves only when a test says so.
///
/// Unchecked, because the lock guards what changes; sleepers are woken with the lock open.
final class SteppedClock: Clock, @unchecked Sendable {
  typealias Instant = JumpingClock.Instant

  private struct Sleeper {
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private let lock = Lock()
  private var instant = Instant(sinceStart: .zero)
  private var sleepers: [Int: Sleeper] = [:]
  private var cancelled: Set<Int> = []
  private var lastNumber = 0
  private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

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
  func untilAsleep(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = lock.withLock {
        if sleepers.count >= count { return true }
        watchers.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = lock.withLock {
      lastNumber += 1
      return lastNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (result, watchers) = add(Sleeper(deadline: deadline, continuation: continuation), number)
        if let result { continuation.resume(with: result) }
        for watcher in watchers { watcher.resume() }
      }
    } onCancel: {
      let sleeper = lock.withLock {
        cancelled.insert(number)
        return sleepers.removeValue(forKey: number)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  private func add(
    _ sleeper: Sleeper,
    _ number: Int
  ) -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) {
    lock.withLock {
      if cancelled.contains(number) { return (.failure(CancellationError()), []) }
      if sleeper.deadline <= instant { return (.success(()), []) }
      sleepers[number] = sleeper
      let due = watchers.filter { $0.count <= sleepers.count }
      watchers.removeAll { $0.count <= sleepers.count }
      return (nil, due.map(\.continuation))
    }
  }
}
