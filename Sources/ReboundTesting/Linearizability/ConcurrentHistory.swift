import StreamSupport

/// What several callers asked of a shared object, in which order the calls began and returned, and what came of each.
///
///     let history = ConcurrentHistory<RegisterCall, Int?>()
///     await withTaskGroup(of: Void.self) { group in
///       group.addTask { await history.record(.write(1)) { await register.write(1) } }
///       group.addTask { await history.record(.read) { await register.read() } }
///     }
///     try requireLinearizable(history, as: RegisterModel())
///
/// `RegisterModel` is the example of ``SequentialModel``.
///
/// - Threads: Calls are recorded on any. Two calls are concurrent if neither had returned when the other began.
public final class ConcurrentHistory<Operation: Sendable, Answer: Sendable>: Sendable {
  struct Call: Sendable {
    let operation: Operation
    /// Moments in the order in which the history heard of them.
    let began: Int
    /// `nil` for a call that has not returned, or has thrown.
    var returned: (moment: Int, answer: Answer)?
  }

  private struct State {
    var calls: [Call] = []
    var moment = 0

    mutating func next() -> Int {
      moment += 1
      return moment
    }
  }

  private let state = Locked(State())

  /// Begins an empty history.
  public init() {}

  var calls: [Call] { state.withLock { $0.calls } }

  /// How many calls were recorded.
  public var count: Int { calls.count }

  /// Makes a call, and writes down when it began, when it returned, and what it answered.
  ///
  /// A call that throws has no answer: it may have taken effect, or not. Where it says more, the closure catches and
  /// returns it.
  ///
  /// - Parameters:
  ///   - operation: What is asked.
  ///   - call: Asks it.
  @discardableResult
  public nonisolated(nonsending) func record<Failure: Error>(
    _ operation: Operation,
    _ call: nonisolated(nonsending) () async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    let index = begin(operation)
    let answer = try await call()
    end(index, answer)
    return answer
  }

  /// Makes a call that does not wait.
  ///
  /// See ``record(_:_:)`` for calls that throw.
  ///
  /// - Parameters:
  ///   - operation: What is asked.
  ///   - call: Asks it.
  @discardableResult
  public func recordAtOnce<Failure: Error>(
    _ operation: Operation,
    _ call: () throws(Failure) -> Answer
  ) throws(Failure) -> Answer {
    let index = begin(operation)
    let answer = try call()
    end(index, answer)
    return answer
  }

  private func begin(_ operation: Operation) -> Int {
    state.withLock { state in
      let began = state.next()
      state.calls.append(Call(operation: operation, began: began))
      return state.calls.count - 1
    }
  }

  private func end(_ index: Int, _ answer: Answer) {
    state.withLock { state in
      let moment = state.next()
      state.calls[index].returned = (moment, answer)
    }
  }
}
