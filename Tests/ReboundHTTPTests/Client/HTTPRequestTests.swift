import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import Testing

@Suite("HTTPRequest")
struct HTTPRequestTests {
  private struct Stamp: HTTPMiddleware {
    func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
      var request = request
      request.message.headers["X-Stamp"] = "\(request.operation) \(request.attempt) \(request.isIdempotent)"
      return next(request)
    }
  }

  /// Asks the service for a number that is used once, before each request.
  private struct Numbering: HTTPMiddleware {
    let url: URL

    func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
      next(HTTPRequest(TransportRequest(url), operation: "Number", time: request.time))
        .flatMap { answer in
          var request = request
          request.message.headers["X-Number"] = String(decoding: answer.body, as: UTF8.self)
          return next(request)
        }
        .eraseToAnyPublisher()
    }
  }

  @Test("anybody can make one, so that middleware is tested by itself")
  func byHand() throws {
    var message = TransportRequest(.service)
    message.method = .post
    let answer = HTTPResponse(head: ResponseHead(status: 204, url: .service), receivedAt: ClientUnderTest.serverStart)
    let sent = ValueLog<HTTPHeaders>()
    let exchange = Stamp().answer(HTTPRequest(message, operation: "Order", attempt: 2)) { request in
      Just(answer).setFailureType(to: NetworkFailure.self)
        .handleEvents(receiveSubscription: { _ in sent.append(request.message.headers) }).eraseToAnyPublisher()
    }
    let recorder = Recorder<HTTPResponse, NetworkFailure>()
    exchange.subscribe(recorder)
    expectEqual(recorder.values.map(\.status), [204])
    expectEqual(sent.values.map { $0["X-Stamp"] }, ["Order 2 false"])
  }

  @Test("its failures name it, without secrets")
  func failure() throws {
    let url = try #require(URL(string: "https://api.example/v1?token=hush" as String))
    let failure = HTTPRequest(TransportRequest(url), operation: "Weather", id: "7").failure(.conflict)
    expectEqual(failure.call.operation, "Weather")
    expectEqual(failure.call.requestID, "7")
    #expect(failure.call.isIdempotent)
    #expect(!failure.call.url.contains("hush"))
  }

  @Test("middleware may send one of its own through the client")
  func ofMiddleware() throws {
    let url = try #require(URL(string: "https://api.example/number" as String))
    let test = ClientUnderTest([.ok("42"), .status(204)], [Numbering(url: url)])
    _ = try test.run(Anything())
    expectEqual(test.transport.calls.map(\.request.url.path), ["/number", "/v1"])
    expectEqual(test.transport.calls.map { $0.request.headers["X-Number"] }, [nil, "42"])
  }
}
