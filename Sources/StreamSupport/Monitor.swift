/// State behind a lock, and tasks that wait until it meets a condition.
public final class Monitor<State>: Sendable {
  private struct Waiter {
    let number: Int
    let isMet: @Sendable (State) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct Guarded {
    var state: State
    var waiters: [Waiter] = []
    var waitCount = 0

    mutating func takeReady() -> [Waiter] {
      guard !waiters.isEmpty else { return [] }
      let state = state
      let ready = waiters.filter { $0.isMet(state) }
      waiters.removeAll { waiter in ready.contains { $0.number == waiter.number } }
      return ready
    }
  }

  private let guarded: Locked<Guarded>

  /// Guards a state.
  public init(_ state: State) {
    guarded = Locked(Guarded(state: state))
  }

  /// Runs a body with the lock held, and returns what it returns; then whoever has waited for what the body has brought about
  /// goes on.
  public func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, ready) = guarded.withLock { (body(&$0.state), $0.takeReady()) }
    for waiter in ready { waiter.continuation.resume() }
    return result
  }

  /// Waits until the state meets a condition, or the task is cancelled.
  ///
  /// - Parameter isMet: Called with the lock held: it is quick, and does not use the monitor.
  public func until(_ isMet: @escaping @Sendable (State) -> Bool) async {
    let number = guarded.withLock { guarded in
      guarded.waitCount += 1
      return guarded.waitCount
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = guarded.withLock { guarded in
          // A cancel that came before has found nobody.
          if isMet(guarded.state) || Task.isCancelled { return true }
          guarded.waiters.append(Waiter(number: number, isMet: isMet, continuation: continuation))
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiter = guarded.withLock { guarded in
        guarded.waiters.firstIndex { $0.number == number }.map { guarded.waiters.remove(at: $0) }
      }
      waiter?.continuation.resume()
    }
  }
}
