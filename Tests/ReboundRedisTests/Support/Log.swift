#if Redis
  import StreamSupport

  /// Keeps what it is told, from whichever thread.
  final class Log<Entry>: Sendable {
    private struct State {
      var list: [Entry] = []
      var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var entries: [Entry] { state.withLock { $0.list } }
    var count: Int { state.withLock { $0.list.count } }

    func write(_ entry: Entry) {
      _ = number(entry)
    }

    /// Writes an entry, and says how many there are then.
    func number(_ entry: Entry) -> Int {
      let (count, due) = state.withLock { state in
        state.list.append(entry)
        let count = state.list.count
        let due = state.waiters.filter { $0.count <= count }
        state.waiters.removeAll { $0.count <= count }
        return (count, due)
      }
      for waiter in due { waiter.continuation.resume() }
      return count
    }

    /// Returns as soon as there are that many entries, or more.
    func until(_ count: Int) async {
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          if state.list.count < count { state.waiters.append((count, continuation)) }
          return state.list.count >= count
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
#endif
