#if OpenAPI
  import StreamSupport

  /// A function that may be called until it is taken back.
  ///
  /// Policies keep what they call for as long as they like; what is lent must not be called, nor kept, beyond its time.
  final class LentCall: Sendable {
    typealias Call = @Sendable () async throws -> OpenAPIAnswer

    private struct State {
      var call: Call?
      var running = 0
      var whenIdle: CheckedContinuation<Void, Never>?
    }

    private let state: Locked<State>

    init(_ call: @escaping Call) {
      state = Locked(State(call: call))
    }

    /// - Throws: What the function throws; `CancellationError` if it has been taken back.
    func call() async throws -> OpenAPIAnswer {
      defer { leave() }
      return try await enter()()
    }

    /// Lets no new call begin, and waits for those that run.
    func takeBack() async {
      let released = state.withLock { state in
        let call = state.call
        state.call = nil
        return call
      }
      withExtendedLifetime(released) {}
      await withCheckedContinuation { continuation in
        let isIdle = state.withLock { state in
          if state.running > 0 { state.whenIdle = continuation }
          return state.running == 0
        }
        if isIdle { continuation.resume() }
      }
    }

    /// Counts also a call that finds nothing to call, so that each ends with one ``leave()``.
    private func enter() throws -> Call {
      let call = state.withLock { state in
        state.running += 1
        return state.call
      }
      guard let call else { throw CancellationError() }
      return call
    }

    private func leave() {
      let waiting = state.withLock { state in
        state.running -= 1
        guard state.running == 0 else { return nil as CheckedContinuation<Void, Never>? }
        defer { state.whenIdle = nil }
        return state.whenIdle
      }
      waiting?.resume()
    }
  }
#endif
