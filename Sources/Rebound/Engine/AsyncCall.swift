/// What policies are put around: an asynchronous function as a value with a type of its own.
///
/// Policies around policies are then one type, made where all types are known, and need neither memory nor a conversion
/// between them. A closure is one as ``ClosureCall``.
public protocol AsyncCall<Output, Failure>: Sendable {
  /// What it returns.
  associatedtype Output: Sendable
  /// What it throws.
  associatedtype Failure: Error

  /// Makes the call.
  nonisolated(nonsending) func callAsFunction() async throws(Failure) -> Output
}

extension AsyncCall {
  /// Makes the call, and says how it has ended.
  @inlinable @inline(__always)
  nonisolated(nonsending) func result() async -> Result<Output, Failure> {
    do throws(Failure) { return .success(try await self()) } catch { return .failure(error) }
  }
}

/// A closure as an ``AsyncCall``.
public struct ClosureCall<Output: Sendable>: AsyncCall {
  @usableFromInline let closure: nonisolated(nonsending) @Sendable () async throws -> Output

  /// Takes a closure as a call.
  @inlinable
  public init(_ closure: nonisolated(nonsending) @escaping @Sendable () async throws -> Output) {
    self.closure = closure
  }

  /// Runs the closure.
  @inlinable @inline(__always)
  public nonisolated(nonsending) func callAsFunction() async throws -> Output { try await closure() }
}

/// The same for a closure that says what it throws.
@usableFromInline
struct TypedClosureCall<Output: Sendable, Failure: Error>: AsyncCall {
  @usableFromInline let closure: nonisolated(nonsending) @Sendable () async throws(Failure) -> Output

  @inlinable
  init(_ closure: nonisolated(nonsending) @escaping @Sendable () async throws(Failure) -> Output) {
    self.closure = closure
  }

  @inlinable @inline(__always)
  nonisolated(nonsending) func callAsFunction() async throws(Failure) -> Output { try await closure() }
}

/// A call under a stage.
@usableFromInline
struct CallInStage<Stage: PipelineStage, Call: AsyncCall>: AsyncCall
where Call.Output == Stage.Output, Call.Failure == any Error {
  @usableFromInline let box: StageBox<Stage>
  // All that there is to the context of a function, which itself is long to copy.
  @usableFromInline let time: TimeSource?
  @usableFromInline let origin: DecisionOrigin?
  @usableFromInline let call: Call

  @inlinable
  init(stage: StageBox<Stage>, execution: ExecutionContext, call: Call) {
    box = stage
    time = execution.givenTime
    origin = execution.origin
    self.call = call
  }

  @inlinable @inline(__always)
  nonisolated(nonsending) func callAsFunction() async throws -> Stage.Output {
    try await box.stage.run(ExecutionContext(time: time, origin: origin), call)
  }
}

/// A call that is compiled once, wherever it is made.
@usableFromInline
struct OutlinedCall<Call: AsyncCall>: AsyncCall {
  @usableFromInline let call: Call

  @inlinable
  init(call: Call) {
    self.call = call
  }

  @inlinable @inline(never)
  nonisolated(nonsending) func callAsFunction() async throws(Call.Failure) -> Call.Output { try await call() }
}
