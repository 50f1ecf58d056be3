import Foundation
import Rebound
import StreamSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Pipeline {
  /// Runs a call of a client that is not this package's, and names its failures as this package's client would.
  ///
  ///     let call = NetworkFailure.Call(operation: "forecast", url: Redaction.standard.url(url))
  ///     let answer = try await pipeline.run(foreign: call, head: { $0.head }) { try await client.get(url) }
  ///
  /// To the stages of the pipeline, an answer is a ``NetworkFailure`` with its status and `Retry-After` if it is one for the
  /// moment (``NetworkFailure/isTransient``) or speaks against the service (``NetworkFailure/speaksAgainstService(_:)``); any
  /// other, such as a 404, is a success. What the client throws is one, too, be it URLSession, AsyncHTTPClient or one over
  /// SwiftNIO. What a stage cuts off or refuses is judged by the call: so `Retry(.http)` repeats what `Timeout(attempt:)` has cut
  /// off if the call is idempotent.
  ///
  /// When the pipeline gives up with an answer, the caller gets that, since it may say what it means, and can name it by
  /// ``NetworkFailure/init(_:of:parsing:)``. Every other failure is thrown as a ``NetworkFailure``, with those of the attempts
  /// before. A call that is not replayable is never sent twice: a second attempt fails at once with what the first has failed
  /// with.
  ///
  /// The function is called until this returns, and never after that: an attempt that is cancelled, by a timeout or a hedge, is
  /// waited for. So it may be one that must not escape. Under a `SingleFlight`, one who is cancelled waits also while others wait
  /// for the call that it has begun.
  ///
  /// - Parameters:
  ///   - call: What failures say of the call. Its method, `isIdempotent` and `isReplayable` decide whether it may be made
  ///     again; it is a GET unless told otherwise.
  ///   - time: Measures the attempts; its wall clock says how long a date in `Retry-After` is away.
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
      let scoped = ScopedFunction(send)
      let result: Result<Output, any Error>
      do {
        let answer = try await ForeignCall.$current.withValue(call) {
          try await run { try await attempts.attempt { try await scoped.call() } }
        }
        result = .success(answer)
      } catch {
        result = .failure(error)
      }
      await scoped.end()
      return try attempts.conclude(result)
    }
  }
}

extension NetworkFailure.Call {
  /// The call that a pipeline runs for another client, for what its stages refuse.
  static var current: NetworkFailure.Call? { ForeignCall.current as? NetworkFailure.Call }
}

/// What is known of the attempts of one call.
private final class ForeignAttempts<Output: Sendable>: Sendable {
  /// An answer that policies take for a failure.
  private struct UnsuccessfulAnswer: Error {
    let answer: Output
  }

  private let call: NetworkFailure.Call
  private let time: TimeSource
  private let head: @Sendable (Output) -> ResponseHead
  private let counter = Counter()
  private let failures = FailureHistory()
  /// How long the attempt ran that was cancelled last; a timeout of the pipeline may have done so.
  private let cutOff = Locked<Duration>(.zero)

  init(_ call: NetworkFailure.Call, _ time: TimeSource, _ head: @escaping @Sendable (Output) -> ResponseHead) {
    (self.call, self.time, self.head) = (call, time, head)
  }

  func attempt(_ send: () async throws -> Output) async throws -> Output {
    let number = counter.next()
    var call = call
    call.attempt = number
    guard number == 1 || call.isReplayable else {
      let alreadySent = TransportFailure(.body, detail: "it can be sent once, and is being sent already")
      throw failures.all.last ?? named(alreadySent, call)
    }
    let start = time.now
    do {
      // What is asked on the way, of this package's client perhaps, is another call.
      let answer = try await ForeignCall.$current.withValue(nil) { try await send() }
      call.duration = time.now - start
      if let failure = failure(for: answer, call) { throw failure }
      return answer
    } catch {
      if Task.isCancelled || error is CancellationError {
        cutOff.withLock { $0 = time.now - start }
        throw CancellationError()
      }
      // By a name of this module no policy would see any more that nobody has asked the service.
      if isAbandonment(error) { throw error }
      call.duration = time.now - start
      let failure = named(error, call)
      failures.append(failure)
      throw failure
    }
  }

  func conclude(_ result: Result<Output, any Error>) throws -> Output {
    do {
      return try result.get()
    } catch let error as CancellationError {
      throw error
    } catch {
      var call = call
      call.attempt = max(counter.count, 1)
      if error.withoutTrace is TimedOut { call.duration = cutOff.withLock { $0 } }
      var failure = named(error, call)
      if let unsuccessful = failure.underlying as? UnsuccessfulAnswer { return unsuccessful.answer }
      // What a stage has refused is not among those of attempts.
      failure.earlier = error.withoutTrace is NetworkFailure ? failures.all.dropLast() : failures.all
      throw failure
    }
  }

  private func failure(for answer: Output, _ call: NetworkFailure.Call) -> NetworkFailure? {
    let head = head(answer)
    guard head.status >= 400 else { return nil }
    var failure = NetworkFailure(HTTPResponse(head: head, receivedAt: HTTPDate(since1970: time.wallClock)), of: call)
    failure.underlying = UnsuccessfulAnswer(answer: answer)
    return failure.isTransient || NetworkFailure.speaksAgainstService(failure) ? failure : nil
  }

  private func named(_ error: any Error, _ call: NetworkFailure.Call) -> NetworkFailure {
    var failure = NetworkFailure(refusal: error)
    // One that has seen a request before knows more of it.
    if !(error.withoutTrace is NetworkFailure) { failure.call = call }
    return failure
  }
}

extension NetworkFailure {
  /// The failure that an answer stands for, as this package's client would name it: by its status, with what the server says
  /// about it and the pause that it asks for.
  ///
  ///     guard answer.status == 200 else { throw NetworkFailure(answer, of: call) }
  ///
  /// - Parameters:
  ///   - answer: The answer, whose status is not valid.
  ///   - call: What it was asked by.
  ///   - parser: Reads what the server says.
  public init(_ answer: HTTPResponse, of call: Call = Call(), parsing parser: ErrorParser = .standard) {
    self.init(
      Kind(status: answer.status),
      call: call,
      head: answer.head,
      body: answer.body,
      server: parser.parse(answer),
      retryAfter: answer.retryAfter
    )
  }
}

extension ResponseHead {
  /// The head of an answer that URLSession has brought.
  ///
  /// - Parameters:
  ///   - response: The answer.
  ///   - url: The address that was asked, if URLSession does not say which has answered.
  public init(_ response: HTTPURLResponse, for url: URL) {
    var fields: [HTTPHeaders.Field] = []
    for (name, value) in response.allHeaderFields { fields.append(HTTPHeaders.Field("\(name)", "\(value)")) }
    // A dictionary has no order; this one is at least the same each time.
    fields.sort { $0.name < $1.name }
    self.init(status: response.statusCode, headers: HTTPHeaders(fields), url: response.url ?? url)
  }
}
