import StreamSupport

/// A function that may be called until its scope ends.
///
/// Policies keep what they call for as long as they like; one that must not escape is not called, nor kept, beyond its scope.
final class ScopedFunction<Output: Sendable>: Sendable {
  typealias Function = @Sendable () async throws -> Output

  private struct State {
    var function: Function?
    var running = 0
    var whenIdle: CheckedContinuation<Void, Never>?
  }

  private let state: Locked<State>

  init(_ function: @escaping Function) {
    state = Locked(State(function: function))
  }

  /// - Throws: What the function throws; `CancellationError` if the scope has ended.
  func call() async throws -> Output {
    defer { leave() }
    return try await enter()()
  }

  /// Lets no new call begin, and waits for those that run.
  func end() async {
    let released = state.withLock { $0.function.take() }
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
  private func enter() throws -> Function {
    let function = state.withLock { state in
      state.running += 1
      return state.function
    }
    guard let function else { throw CancellationError() }
    return function
  }

  private func leave() {
    let waiting = state.withLock { state in
      state.running -= 1
      return state.running == 0 ? state.whenIdle.take() : nil
    }
    waiting?.resume()
  }
}
