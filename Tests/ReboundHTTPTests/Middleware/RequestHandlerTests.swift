import Combine
import Expectations
import Foundation
import Rebound
import ReboundTesting
import Testing

@testable import ReboundHTTP

@Suite("RequestHandler")
struct RequestHandlerTests {
  static let response = HTTPResponse(
    head: ResponseHead(status: 200, url: .service),
    body: Data("{}".utf8),
    receivedAt: ClientUnderTest.serverStart
  )
  /// The module's own.
  static func stages() throws -> [any HandlingMiddleware] {
    let session = TokenRefresher<String> { _ in .rejected(CancellationError()) }
    session.signIn(with: "token")
    return [
      Caching(in: HTTPCache()), Coalescing(), DeadlineLimit(), Retrying(.never),
      Authenticating(with: session) { $0["Authorization"] = $1 },
      Protecting(try .consecutive(5, openFor: .seconds(30))), Cookies(),
    ]
  }

  private let request = HTTPRequest(TransportRequest(.service), timeLimit: .seconds(60))
  private let upstream = TestPublisher<HTTPResponse, NetworkFailure>()

  private func answer(_ middleware: any HTTPMiddleware) -> HTTPAnswer {
    middleware.answer(request) { [upstream] _ in upstream.eraseToAnyPublisher() }
  }

  @Test(
    "middleware by itself asks nothing before it is subscribed to, and no more than is asked of it",
    arguments: 0..<7
  )
  func demand(place: Int) throws {
    let answer = answer(try Self.stages()[place])
    #expect(upstream.connections.isEmpty)
    let recorder = Recorder<HTTPResponse, NetworkFailure>(requesting: .none)
    answer.subscribe(recorder)
    expectEqual(upstream.connections.count, 1)
    #expect(upstream.requests.isEmpty)
    recorder.request(.max(1))
    expectEqual(upstream.requests, [.max(1)])
    upstream.send(Self.response)
    upstream.send(completion: .finished)
    expectEqual(recorder.values.map(\.body), [Self.response.body])
    #expect(recorder.isFinished)
  }

  @Test("a cancel reaches what is inside, once, and nothing comes after it", arguments: 0..<7)
  func cancel(place: Int) throws {
    let recorder = Recorder<HTTPResponse, NetworkFailure>()
    answer(try Self.stages()[place]).subscribe(recorder)
    recorder.cancel()
    recorder.cancel()
    upstream.send(Self.response)
    expectEqual(upstream.cancelCount, 1)
    #expect(recorder.values.isEmpty && recorder.completions.isEmpty)
  }

  @Test("middleware of others stands between the module's own as between any", arguments: [0, 1, 2])
  func foreign(place: Int) throws {
    var middleware: [any HTTPMiddleware] = [Coalescing(), Retrying(RetryPolicy(clamping: 1, backoff: .immediate))]
    middleware.insert(Passing(), at: place)
    let next = RequestHandler { [upstream] in upstream.subscribe($1) }
    let recorder = Recorder<HTTPResponse, NetworkFailure>(requesting: .none)
    RequestHandler(middleware, next: next)(request).subscribe(recorder)
    recorder.request(.max(1))
    upstream.send(completion: .failure(NetworkFailure(.serverError(503), call: .init(isIdempotent: true))))
    expectEqual(upstream.connections.count, 2)
    upstream.send(Self.response)
    upstream.send(completion: .finished)
    #expect(recorder.values.count == 1 && recorder.isFinished)
  }

  @Test("who answers a request from within the answer to another gets both")
  func reentrant() {
    let handler = RequestHandler(
      [Coalescing()],
      next: RequestHandler { Just(Self.response).setFailureType(to: NetworkFailure.self).subscribe($1) }
    )
    var inner: [Data] = []
    let request = request
    let outer = handler(request).handleEvents(receiveOutput: { _ in
      _ = handler(request).sink(receiveCompletion: { _ in }, receiveValue: { inner.append($0.body) })
    })
    let recorder = Recorder<HTTPResponse, NetworkFailure>()
    outer.subscribe(recorder)
    #expect(recorder.values.count == 1 && recorder.isFinished)
    expectEqual(inner, [Self.response.body])
  }

  @Test("nothing is kept of an answer that has ended, or was cancelled", arguments: [false, true])
  func memory(isCancelled: Bool) {
    final class Kept {}
    weak var kept: Kept?
    let handler = RequestHandler(
      [DeadlineLimit(), Retrying(.http), Cookies()] as [any HTTPMiddleware],
      next: RequestHandler { [upstream] in upstream.subscribe($1) }
    )
    do {
      let object = Kept()
      kept = object
      let stream = handler(request).handleEvents(receiveOutput: { _ in _ = object }).sink { _ in
      } receiveValue: { _ in
      }
      if isCancelled { stream.cancel() } else { upstream.send(completion: .finished) }
      for connection in upstream.connections { connection.letGo() }
      // Whoever has the subscription may keep it.
      withExtendedLifetime(stream) {}
    }
    #expect(kept == nil)
  }
}
