#if OpenAPI
  import Foundation
  import HTTPTypes
  import OpenAPIRuntime
  import Rebound
  import ReboundHTTP
  import StreamSupport

  /// What a generated client gets for a request; the output of the pipelines around it.
  public struct OpenAPIAnswer: Sendable {
    /// Status and header fields.
    public let response: HTTPTypes.HTTPResponse
    /// The body, if there is one.
    public let body: HTTPBody?
  }

  /// Puts a pipeline around each call of a generated client.
  ///
  ///     let pipeline = try Pipeline<OpenAPIAnswer>("weather", repetition: .harmful, events: events) {
  ///       Retry(.standard.when { ($0 as? NetworkFailure)?.isRetryable ?? false })
  ///       Timeout(attempt: .seconds(3))
  ///     }
  ///     let client = Client(serverURL: url, transport: transport, middlewares: [PipelineMiddleware(pipeline)])
  ///
  /// Inside of the pipeline, an answer whose status is that of a failure for the moment (``NetworkFailure/isTransient``) is a
  /// `NetworkFailure` with its status and `Retry-After`, and so is what the network throws. When the pipeline gives up with
  /// such an answer, the client gets the answer, since its document may say what it means; every other failure is thrown as
  /// a `NetworkFailure`. A body that can be read once (`iterationBehavior` is `.single`) is never sent twice: a second attempt
  /// fails at once with what the first has failed with.
  ///
  /// What the transport of a generated client throws has the same verdict, be it of URLSession, AsyncHTTPClient or SwiftNIO.
  ///
  /// A call ends when all its attempts have: one that is cancelled, by a timeout or a hedge, is waited for.
  public struct PipelineMiddleware: ClientMiddleware {
    private let pipeline: Pipeline<OpenAPIAnswer>
    private let time: TimeSource

    /// Makes a middleware of a pipeline.
    ///
    /// - Parameters:
    ///   - pipeline: The policies around each call.
    ///   - time: Its wall clock says how long a date in `Retry-After` is away.
    public init(_ pipeline: Pipeline<OpenAPIAnswer>, time: TimeSource = .current) {
      self.pipeline = pipeline
      self.time = time
    }

    /// Sends the request under the pipeline.
    ///
    /// - Throws: `NetworkFailure`; `CancellationError` if the task was cancelled.
    public func intercept(
      _ request: HTTPTypes.HTTPRequest,
      body: HTTPBody?,
      baseURL: URL,
      operationID: String,
      next: @Sendable (HTTPTypes.HTTPRequest, HTTPBody?, URL) async throws -> (HTTPTypes.HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody?) {
      let url = OpenAPIExchange.url(of: request, at: baseURL)
      let exchange = OpenAPIExchange(request: request, body: body, url: url, operation: operationID, time: time)
      return try await withoutActuallyEscaping(next) { next in
        let lent = LentCall { OpenAPIAnswer(try await next(request, body, baseURL)) }
        let result: Result<OpenAPIAnswer, any Error>
        do {
          result = .success(try await pipeline.run { try await exchange.attempt { try await lent.call() } })
        } catch {
          result = .failure(error)
        }
        // The function is the caller's only until this returns.
        await lent.takeBack()
        let answer = try exchange.conclude(result)
        return (answer.response, answer.body)
      }
    }
  }

  extension OpenAPIAnswer {
    init(_ answer: (HTTPTypes.HTTPResponse, HTTPBody?)) {
      (response, body) = answer
    }
  }

  /// An answer that policies take for a failure.
  private struct UnsuccessfulAnswer: Error {
    let answer: OpenAPIAnswer
  }

  /// One call and what is known of its attempts.
  final class OpenAPIExchange: Sendable {
    private struct State {
      var attempts = 0
      var failure: NetworkFailure?
    }

    private static let alreadySent = TransportFailure(
      .body,
      detail: "the body can be read once, and is being sent already"
    )

    private let call: NetworkFailure.Call
    private let url: URL
    private let time: TimeSource
    private let state = Locked(State())

    init(request: HTTPTypes.HTTPRequest, body: HTTPBody?, url: URL, operation: String, time: TimeSource) {
      self.url = url
      self.time = time
      call = NetworkFailure.Call(
        operation: operation,
        method: HTTPMethod(rawValue: request.method.rawValue),
        url: Redaction.standard.url(url),
        isReplayable: body?.iterationBehavior != .single
      )
    }

    func attempt(_ send: () async throws -> OpenAPIAnswer) async throws -> OpenAPIAnswer {
      let (number, earlier) = state.withLock { state in
        state.attempts += 1
        return (state.attempts, state.failure)
      }
      guard number == 1 || call.isReplayable else { throw earlier ?? failure(of: OpenAPIExchange.alreadySent) }
      do {
        let answer = try await send()
        if let failure = failure(of: answer, attempt: number) { throw failure }
        return answer
      } catch {
        // What a generated client's transport throws comes in an error of the runtime's.
        let error = (error as? ClientError)?.underlyingError ?? error
        if Task.isCancelled || error is CancellationError { throw CancellationError() }
        let failure = failure(of: error)
        state.withLock { $0.failure = failure }
        throw failure
      }
    }

    func conclude(_ result: Result<OpenAPIAnswer, any Error>) throws -> OpenAPIAnswer {
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

    private func failure(of answer: OpenAPIAnswer, attempt: Int) -> NetworkFailure? {
      let status = answer.response.status.code
      guard status >= 400 else { return nil }
      let headers = HTTPHeaders(answer.response.headerFields.map { HTTPHeaders.Field($0.name.rawName, $0.value) })
      let head = ResponseHead(status: status, headers: headers, url: url)
      var call = call
      call.attempt = attempt
      let failure = NetworkFailure(
        NetworkFailure.Kind(status: status),
        call: call,
        head: head,
        retryAfter: ReboundHTTP.HTTPResponse(
          head: head,
          receivedAt: HTTPDate(since1970: time.wallClock)
        ).retryAfter,
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

    static func url(of request: HTTPTypes.HTTPRequest, at baseURL: URL) -> URL {
      guard let path = request.path else { return baseURL }
      let base = baseURL.absoluteString
      return URL(string: (base.hasSuffix("/") ? String(base.dropLast()) : base) + path) ?? baseURL
    }
  }
#endif
