#if Redis
  import Dispatch
  import Rebound
  import StreamSupport

  /// Threads that wait until something is decided.
  final class WaitingThreads: Sendable {
    private let waiting = Locked<[DispatchSemaphore]>([])

    /// Has the thread wait until all are woken.
    ///
    /// - Parameters:
    ///   - limit: How long at most.
    ///   - isUndecided: Whether there is anything to wait for.
    func wait(atMost limit: Duration, while isUndecided: () -> Bool) {
      let thread = DispatchSemaphore(value: 0)
      waiting.withLock { $0.append(thread) }
      // Asked only now, when whoever decides finds this thread, too.
      if isUndecided() { _ = thread.wait(timeout: .now() + limit.inSeconds) }
      waiting.withLock { $0.removeAll { $0 === thread } }
    }

    /// Lets all go on that wait, as a broadcast of a condition does.
    func wakeAll() {
      for thread in waiting.exchange([]) { thread.signal() }
    }
  }
#endif
