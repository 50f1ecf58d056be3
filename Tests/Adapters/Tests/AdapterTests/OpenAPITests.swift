import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import OpenAPIRuntime
import Rebound
import ReboundHTTP
import ReboundOpenAPI
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct OpenAPITests {
  private let server = Server()
  private let request = HTTPTypes.HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/weather?key=hush")

  private func middleware(retries: Int = 1) throws -> PipelineMiddleware {
    let policy = try RetryPolicy<any Error>(maxRetries: retries, backoff: .constant(.zero))
    return PipelineMiddleware(
      try Pipeline<OpenAPIAnswer>("weather", repetition: .harmful) {
        Retry(policy.when { ($0 as? NetworkFailure)?.isRetryable ?? false })
      }
    )
  }

  private func send(
    _ request: HTTPTypes.HTTPRequest? = nil,
    _ body: HTTPBody? = nil,
    through middleware: PipelineMiddleware
  ) async throws -> Int {
    let url = try #require(URL(string: "https://a.example/v1" as String))
    let (response, _) = try await middleware.intercept(
      request ?? self.request,
      body: body,
      baseURL: url,
      operationID: "getWeather"
    ) { request, body, _ in try await server.answer(body) }
    return response.status.code
  }

  private func error(of cause: any Error, _ description: String) -> ClientError {
    ClientError(operationID: "getWeather", operationInput: 0, causeDescription: description, underlyingError: cause)
  }

  @Test func aFailureForTheMomentIsRetried() async throws {
    server.script { $0 = [.status(503), .status(200)] }
    #expect(try await send(through: middleware()) == 200)
    #expect(server.count == 2)
  }

  @Test func theLastAnswerGoesToTheGeneratedClient() async throws {
    server.script { $0 = [.status(503), .status(503)] }
    #expect(try await send(through: middleware()) == 503)
    #expect(server.count == 2)
  }

  @Test func anAnswerThatTheDocumentMayKnowIsNoFailure() async throws {
    server.script { $0 = [.status(404)] }
    #expect(try await send(through: middleware()) == 404)
    #expect(server.count == 1)
  }

  @Test func aBodyThatCanBeReadOnceIsNeverSentTwice() async throws {
    server.script { $0 = [.status(503), .status(200)] }
    let always = PipelineMiddleware(
      try Pipeline<OpenAPIAnswer>("weather") {
        Retry(try RetryPolicy<any Error>(maxRetries: 3, backoff: .constant(.zero)))
      }
    )
    let stream = AsyncThrowingStream<HTTPBody.ByteChunk, any Error> { $0.finish() }
    #expect(try await send(nil, HTTPBody(stream, length: .unknown), through: always) == 503)
    #expect(server.count == 1)
  }

  @Test func whatIsNotIdempotentIsNotRetried() async throws {
    server.script { $0 = [.status(503), .status(200)] }
    var post = request
    post.method = .post
    #expect(try await send(post, HTTPBody(Data("{}".utf8)), through: middleware()) == 503)
    #expect(server.count == 1)
  }

  @Test func aFailureOfTheNetworkNamesTheCallWithoutSecrets() async throws {
    server.script { $0 = [.failure(.reset), .failure(.reset)] }
    let middleware = try middleware()
    let failure = await #expect(throws: NetworkFailure.self) { try await send(through: middleware) }
    #expect(failure?.kind == .transport(.reset))
    #expect(failure?.call.operation == "getWeather")
    #expect(failure?.call.url.contains("hush") == false)
    #expect(server.count == 2)
  }

  @Test(
    arguments: [
      (HTTPClientError.remoteConnectionClosed, .reset), (HTTPClientError.deadlineExceeded, .timeout(.total)),
      (IOError(errnoCode: ECONNRESET, reason: "read"), .reset), (URLError(.timedOut), .timeout(.idle)),
    ] as [(any Error, TransportFailure.Kind)]
  )
  func whatAnotherTransportThrowsHasItsVerdictAndIsRetried(error: any Error, kind: TransportFailure.Kind) async throws {
    // As the runtime hands it to a middleware.
    let wrapped = self.error(of: error, "Transport threw an error.")
    server.script { $0 = [.error(error), .error(wrapped)] }
    let middleware = try middleware()
    let failure = await #expect(throws: NetworkFailure.self) { try await send(through: middleware) }
    #expect(failure?.kind == .transport(kind))
    #expect(failure?.call.operation == "getWeather")
    #expect(server.count == 2)
  }

  @Test func whatSaysNothingAboutTheNetworkIsNotRetried() async throws {
    server.script { $0 = [.error(HTTPClientError.alreadyShutdown), .status(200)] }
    let middleware = try middleware()
    let failure = await #expect(throws: NetworkFailure.self) { try await send(through: middleware) }
    #expect(failure?.kind == .other)
    #expect(failure?.underlying as? HTTPClientError == .alreadyShutdown)
    #expect(server.count == 1)
  }

  @Test func whoCallsTheGeneratedClientGetsTheFailureOfTheCall() async throws {
    server.script { $0 = [.failure(.reset), .failure(.reset)] }
    let middleware = try middleware()
    let failure = await #expect(throws: NetworkFailure.self) { try await send(through: middleware) }
    let caught = error(of: try #require(failure), "Middleware threw an error.").networkFailure
    #expect(caught.kind == .transport(.reset))
    #expect(caught.call.operation == "getWeather")
    #expect(error(of: CancellationError(), "Middleware threw an error.").networkFailure.kind == .cancelled)
  }

  @Test func aCancelStaysOne() async throws {
    let cancel = error(of: CancellationError(), "Transport threw an error.")
    server.script { $0 = [.error(cancel), .status(200)] }
    let middleware = try middleware()
    await #expect(throws: CancellationError.self) { try await send(through: middleware) }
    #expect(server.count == 1)
  }
}

/// Answers as a script says.
private final class Server: Sendable {
  enum Step {
    case status(Int)
    case failure(TransportFailure.Kind)
    case error(any Error)
  }

  private let state = Mutex<(steps: [Step], count: Int)>(([], 0))

  var count: Int { state.withLock { $0.count } }

  func script(_ change: (inout [Step]) -> Void) { state.withLock { change(&$0.steps) } }

  func answer(_ body: HTTPBody?) async throws -> (HTTPTypes.HTTPResponse, HTTPBody?) {
    let step = state.withLock { state -> Step in
      state.count += 1
      return state.steps.isEmpty ? .failure(.other) : state.steps.removeFirst()
    }
    switch step {
    case .status(let code): return (HTTPTypes.HTTPResponse(status: .init(code: code)), nil)
    case .failure(let kind): throw TransportFailure(kind)
    case .error(let error): throw error
    }
  }
}
