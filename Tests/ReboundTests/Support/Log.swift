import StreamSupport

/// Keeps what it is told, from whichever thread.
///
/// Unchecked, because the lock guards every access to the entries.
final class Log<Entry>: @unchecked Sendable {
  private let lock = Lock()
  private var list: [Entry] = []

  var entries: [Entry] { lock.withLock { list } }
  var count: Int { lock.withLock { list.count } }

  func write(_ entry: Entry) {
    lock.withLock { list.append(entry) }
  }

  /// Writes an entry, and says how many there are then.
  func number(_ entry: Entry) -> Int {
    lock.withLock {
      list.append(entry)
      return list.count
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
