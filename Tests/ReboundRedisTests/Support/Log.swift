#if Redis
  import StreamSupport

  /// Keeps what it is told, from whichever thread.
  final class Log<Entry>: Sendable {
    private let list = Monitor<[Entry]>([])

    var entries: [Entry] { list.withLock { $0 } }
    var count: Int { list.withLock { $0.count } }

    func write(_ entry: Entry) {
      _ = number(entry)
    }

    /// Writes an entry, and says how many there are then.
    func number(_ entry: Entry) -> Int {
      list.withLock { list in
        list.append(entry)
        return list.count
      }
    }

    /// Returns as soon as there are that many entries, or more, or the task is cancelled.
    func until(_ count: Int) async {
      await list.until { $0.count >= count }
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
#endif
