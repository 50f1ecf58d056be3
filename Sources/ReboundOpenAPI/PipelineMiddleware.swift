#if OpenAPI
  import Foundation
  import HTTPTypes
  import OpenAPIRuntime
  import Rebound
  import ReboundHTTP

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
  ///       Retry(.http)
  ///       Timeout(attempt: .seconds(3))
  ///     }
  ///     let client = Client(serverURL: url, transport: transport, middlewares: [PipelineMiddleware(pipeline)])
  ///
  /// What counts as a failure, and what the client gets, is said at `Pipeline.run(foreign:time:head:_:)`. A body that can be
  /// read once (`iterationBehavior` is `.single`) is never sent twice. Whoever calls the generated client catches a
  /// `ClientError`, and asks it for its `networkFailure`.
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
    /// - Throws: `NetworkFailure`; `CancellationError` if the task was cancelled. The runtime hands either on in a
    ///   `ClientError`.
    public func intercept(
      _ request: HTTPTypes.HTTPRequest,
      body: HTTPBody?,
      baseURL: URL,
      operationID: String,
      next: @Sendable (HTTPTypes.HTTPRequest, HTTPBody?, URL) async throws -> (HTTPTypes.HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody?) {
      // It only names the call.
      let url = request.url(at: baseURL) ?? baseURL
      let call = NetworkFailure.Call(
        operation: operationID,
        method: HTTPMethod(rawValue: request.method.rawValue),
        url: Redaction.standard.url(url),
        isReplayable: body?.iterationBehavior != .single
      )
      let answer = try await pipeline.run(
        foreign: call,
        time: time,
        head: {
          ResponseHead(status: $0.response.status.code, headers: HTTPHeaders($0.response.headerFields), url: url)
        }
      ) {
        do {
          let (response, body) = try await next(request, body, baseURL)
          return OpenAPIAnswer(response: response, body: body)
        } catch let error as ClientError {
          // What a generated client's transport throws comes in an error of the runtime's.
          throw error.underlyingError
        }
      }
      return (answer.response, answer.body)
    }
  }

  extension HTTPTypes.HTTPRequest {
    /// The path below that of a server's address, with the request's own query; `nil` if the two make no address.
    func url(at baseURL: URL) -> URL? {
      let path = path ?? ""
      // Without a slash it would go on with the name of the host; a fragment is never sent.
      guard path.isEmpty || path.hasPrefix("/") || path.hasPrefix("?"), !path.contains("#"),
        var base = URLComponents(url: baseURL, resolvingAgainstBaseURL: true)
      else { return nil }
      (base.query, base.fragment) = (nil, nil)
      return base.string.flatMap { URL(string: ($0.hasSuffix("/") ? String($0.dropLast()) : $0) + path) }
    }
  }

  extension HTTPHeaders {
    init(_ fields: HTTPFields) {
      self.init(fields.map { Field($0.name.rawName, $0.value) })
    }
  }
#endif
