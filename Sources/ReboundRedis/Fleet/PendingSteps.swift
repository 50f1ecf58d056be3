#if Redis
  import Combine
  import Dispatch
  import Rebound
  import StreamSupport

  /// What an execution waits for, one step after the other; cancelled as one.
  final class PendingSteps: Cancellable, Sendable {
    private struct State {
      var isCancelled = false
      var step: (any Cancellable)?
    }

    private let state = Locked(State())

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// The step that is under way from now on; cancelled at once if all is.
    func begin(_ step: (any Cancellable)?) {
      let released: (any Cancellable)? = state.withLock { state in
        guard !state.isCancelled else { return step }
        let before = state.step
        state.step = step
        return before
      }
      // The one before is over; to cancel it again does nothing.
      released?.cancel()
    }

    func cancel() {
      let step = state.withLock { state in
        state.isCancelled = true
        let step = state.step
        state.step = nil
        return step
      }
      step?.cancel()
    }
  }

  extension ExecutionContext {
    /// Goes on with an execution on a thread that may wait, as that of a connection may not.
    ///
    /// An asynchronous function goes on in its own task in any case.
    func resume(_ body: @escaping @Sendable () -> Void) {
      if isAsynchronous { body() } else { DispatchQueue.global().async(execute: body) }
    }
  }
#endif
