#if OpenAPI
  import Foundation
  import HTTPTypes
  import OpenAPIRuntime
  import ReboundHTTP

  /// Sends the requests of a generated client over a transport of Rebound's.
  ///
  ///     let transport = ReboundTransport(URLSessionTransport())
  ///     let client = Client(serverURL: url, transport: transport, middlewares: [PipelineMiddleware(pipeline)])
  ///
  /// The answer's body is read as the generated client asks for it: what it leaves is left to the network. The request's body
  /// is held in memory, up to a limit. Redirects are answers, as OpenAPI has them.
  public struct ReboundTransport: ClientTransport {
    private let transport: any Transport
    private let limits: TransportLimits
    private let requestBytes: Int

    /// Makes a transport for generated clients.
    ///
    /// - Parameters:
    ///   - transport: What sends.
    ///   - limits: How long a request may take, and how much may come back.
    ///   - requestBytes: How many bytes the body of a request may have.
    public init(_ transport: any Transport, limits: TransportLimits = .standard, requestBytes: Int = 16 << 20) {
      (self.transport, self.limits, self.requestBytes) = (transport, limits, requestBytes)
    }

    /// Sends the request, and returns when the head of the answer is there.
    ///
    /// - Throws: `TransportFailure`, also if the path makes no address with that of the server; `CancellationError` if the task
    ///   was cancelled. The runtime hands either on in a `ClientError`.
    public func send(
      _ request: HTTPTypes.HTTPRequest,
      body: HTTPBody?,
      baseURL: URL,
      operationID: String
    ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody?) {
      guard let url = request.url(at: baseURL) else {
        throw TransportFailure(.other, isUnsent: true, detail: "no address")
      }
      let message = TransportRequest(
        url,
        method: HTTPMethod(rawValue: request.method.rawValue),
        headers: HTTPHeaders(request.headerFields),
        body: try await transportBody(body),
        limits: limits
      )
      let answer = AnswerReader(message, over: transport)
      let head = try await answer.head()
      var fields = HTTPFields()
      for field in head.headers {
        if let name = HTTPField.Name(field.name) { fields.append(HTTPField(name: name, value: field.value)) }
      }
      let response = HTTPTypes.HTTPResponse(status: .init(code: head.status), headerFields: fields)
      guard message.method != .head, head.status != 204, head.status != 304 else { return (response, nil) }
      let chunks = AsyncThrowingStream { try await answer.next().map { HTTPBody.ByteChunk($0) } }
      return (response, HTTPBody(chunks, length: length(of: head)))
    }

    private func transportBody(_ body: HTTPBody?) async throws -> TransportBody {
      guard let body else { return .none }
      do {
        return .data(try await Data(collecting: body, upTo: requestBytes))
      } catch let error as CancellationError {
        throw error
      } catch {
        throw TransportFailure(.body, underlying: error)
      }
    }

    private func length(of head: ResponseHead) -> HTTPBody.Length {
      // Of a body that was packed, it is the packed one's.
      guard head.headers["Content-Encoding"] == nil, let text = head.headers["Content-Length"], let length = Int64(text)
      else { return .unknown }
      return .known(length)
    }
  }
#endif
