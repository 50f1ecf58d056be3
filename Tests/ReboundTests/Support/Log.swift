import StreamSupport

/// Keeps what it is told, from whichever thread.
///
/// Unchecked, because the lock guards every access to the entries.
final class Log<Entry>: @unchecked Sendable {
  private let lock = Lock()
  private var list: [Entry] = []
  private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

  var entries: [Entry] { lock.withLock { list } }
  var count: Int { lock.withLock { list.count } }

  func write(_ entry: Entry) {
    _ = number(entry)
  }

  /// Writes an entry, and says how many there are then.
  func number(_ entry: Entry) -> Int {
    let (count, due) = lock.withLock {
      list.append(entry)
      let due = waiters.filter { $0.count <= list.count }
      waiters.removeAll { $0.count <= list.count }
      return (list.count, due)
    }
    for waiter in due { waiter.continuation.resume() }
    return count
  }

  /// Returns as soon as there are that many entries, or more.
  func until(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = lock.withLock {
        if list.count < count { waiters.append((count, continuation)) }
        return list.count >= count
      }
      if isThere { continuation.resume() }
    }
  }
}

/// Returns when the task is cancelled, and not before.
func untilCancelled() async {
  let (stream, continuation) = AsyncStream<Void>.makeStream()
  await withTaskCancellationHandler {
    for await _ in stream {}
  } onCancel: {
    continuation.finish()
  }
}
