import Rebound
import StreamSupport

extension Pipeline {
  /// Runs a call of a client that is not this package's, and names its failures as this package's client would.
  ///
  ///     let call = NetworkFailure.Call(operation: "forecast", url: Redaction.standard.url(url))
  ///     let answer = try await pipeline.run(foreign: call, head: { $0.head }) { try await client.get(url) }
  ///
  /// Inside of the pipeline, an answer whose status is that of a failure for the moment (``NetworkFailure/isTransient``) is a
  /// ``NetworkFailure`` with its status and `Retry-After`, and so is what the client throws, be it URLSession, AsyncHTTPClient
  /// or one over SwiftNIO. When the pipeline gives up with such an answer, the caller gets the answer, since it may say what it
  /// means; every other failure is thrown as a ``NetworkFailure``. A call that is not replayable is never sent twice: a second
  /// attempt fails at once with what the first has failed with.
  ///
  /// The function is called until this returns, and never after that: an attempt that is cancelled, by a timeout or a hedge, is
  /// waited for. So it may be one that must not escape.
  ///
  /// - Parameters:
  ///   - call: What failures say of the call.
  ///   - time: Its wall clock says how long a date in `Retry-After` is away.
  ///   - head: The status and header fields of an answer.
  ///   - send: Sends the call; made as often as the policies say.
  /// - Throws: `NetworkFailure`; `CancellationError` if the task was cancelled.
  public nonisolated(nonsending) func run(
    foreign call: NetworkFailure.Call,
    time: TimeSource = .current,
    head: @escaping @Sendable (Output) -> ResponseHead,
    _ send: @Sendable () async throws -> Output
  ) async throws -> Output {
    let attempts = ForeignAttempts(call, time, head)
    return try await withoutActuallyEscaping(send) { send in
      let lent = LentFunction(send)
      let result: Result<Output, any Error>
      do {
        result = .success(try await run { try await attempts.attempt { try await lent.call() } })
      } catch {
        result = .failure(error)
      }
      await lent.takeBack()
      return try attempts.conclude(result)
    }
  }
}

/// What is known of the attempts of one call.
private final class ForeignAttempts<Output: Sendable>: Sendable {
  /// An answer that policies take for a failure.
  private struct UnsuccessfulAnswer: Error {
    let answer: Output
  }

  private struct State {
    var attempts = 0
    var failure: NetworkFailure?
  }

  private let call: NetworkFailure.Call
  private let time: TimeSource
  private let head: @Sendable (Output) -> ResponseHead
  private let state = Locked(State())

  init(_ call: NetworkFailure.Call, _ time: TimeSource, _ head: @escaping @Sendable (Output) -> ResponseHead) {
    (self.call, self.time, self.head) = (call, time, head)
  }

  func attempt(_ send: () async throws -> Output) async throws -> Output {
    let (number, earlier) = state.withLock { state in
      state.attempts += 1
      return (state.attempts, state.failure)
    }
    guard number == 1 || call.isReplayable else {
      throw earlier ?? failure(of: TransportFailure(.body, detail: "it can be sent once, and is being sent already"))
    }
    do {
      let answer = try await send()
      if let failure = failure(of: answer, attempt: number) { throw failure }
      return answer
    } catch {
      if Task.isCancelled || error is CancellationError { throw CancellationError() }
      let failure = failure(of: error)
      state.withLock { $0.failure = failure }
      throw failure
    }
  }

  func conclude(_ result: Result<Output, any Error>) throws -> Output {
    do {
      return try result.get()
    } catch let error as CancellationError {
      throw error
    } catch {
      let failure = failure(of: error)
      guard let unsuccessful = failure.underlying as? UnsuccessfulAnswer else { throw failure }
      return unsuccessful.answer
    }
  }

  private func failure(of answer: Output, attempt: Int) -> NetworkFailure? {
    let head = head(answer)
    guard head.status >= 400 else { return nil }
    var call = call
    call.attempt = attempt
    let response = HTTPResponse(head: head, receivedAt: HTTPDate(since1970: time.wallClock))
    let failure = NetworkFailure(
      NetworkFailure.Kind(status: head.status),
      call: call,
      head: head,
      retryAfter: response.retryAfter,
      underlying: UnsuccessfulAnswer(answer: answer)
    )
    return failure.isTransient ? failure : nil
  }

  private func failure(of error: any Error) -> NetworkFailure {
    var failure = NetworkFailure(refusal: error)
    // One that has seen the request before knows more of it.
    if failure.call.operation.isEmpty { failure.call = call }
    return failure
  }
}
