extension TimeoutPolicy {
  /// Runs an asynchronous function, and ends it when a limit of time is reached.
  ///
  ///     let forecast = try await TimeoutPolicy.attempt(.seconds(10)).run { try await client.forecast(for: city) }
  ///
  /// The function runs in a task of its own, a child of the caller's in all but name, with ``Deadline/current`` set. When a
  /// limit is reached that task is cancelled, and waited for: a function that does not heed a cancel is not left behind,
  /// and keeps the caller waiting. What it returns after that is dropped, and what it throws goes to ``DroppedErrors``.
  /// See ``cooperative()`` for functions that need no cancel.
  ///
  /// A function returns once, so the limits for the first value and between values count from its start, too.
  ///
  /// - Parameters:
  ///   - time: Measures time.
  ///   - operation: What is to be done in time.
  /// - Returns: What the function returns.
  /// - Throws: ``TimedOut`` when a limit is reached, unless the caller's task is cancelled by then; otherwise what the
  ///   function throws; `CancellationError` if the task was cancelled before, and nothing begins.
  @inlinable
  public nonisolated(nonsending) func run<Value: Sendable>(
    time: TimeSource? = nil,
    _ operation: nonisolated(nonsending) @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    let execution = ExecutionContext(time: time)
    if isCooperative { return try await cooperate(execution) { try await operation() } }
    return try await race(execution, ClosureCall(operation))
  }

  /// Runs an asynchronous function with a deadline, in a task of its own unless it is ``cooperative()``.
  @inlinable @inline(__always)
  public nonisolated(nonsending) func execute<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Call.Output
  where Call.Failure == any Error {
    if isCooperative { return try await cooperate(execution) { try await call() } }
    try Task.checkCancellation()
    return try await race(execution, call)
  }

  /// Runs the function where the caller does, with a deadline that it heeds.
  @inlinable @inline(__always)
  nonisolated(nonsending) func cooperate<Value>(
    _ execution: ExecutionContext,
    _ operation: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    let time = execution.time
    let start = execution.now(on: time)
    let limit = storage.limitOfFunction
    // Nothing is begun that has no time.
    if limit <= .zero, let timeout = timeout(since: start, execution) {
      try Task.checkCancellation()
      throw timeout
    }
    let deadline = Deadline(at: start + limit, on: time).nearer(Deadline.current)
    do {
      return try await Deadline.$current.withValue(deadline, operation: operation)
    } catch {
      if !isCancellation(error), let timeout = timeout(since: start, execution) { throw timeout }
      throw error
    }
  }

  /// The error of a function that has begun at a moment, if a limit is reached.
  @usableFromInline
  func timeout(since start: Duration, _ execution: ExecutionContext) -> (any Error)? {
    var machine = makeMachine(execution)
    machine.begin(at: start, execution)
    guard case .refuse(let error) = machine.timerFired(execution) else { return nil }
    return error
  }
}
