import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

/// What adapts requests is asked by the client itself, or passed through where other middleware stands outside of it.
@Suite("RequestAdapter")
struct RequestAdapterTests {
  private static let outside: [[any HTTPMiddleware]] = [[], [Outside()]]

  private func client(_ script: [ScriptedTransport.Step], _ outside: [any HTTPMiddleware]) -> ClientUnderTest {
    ClientUnderTest(script, outside + [Cookies(), APIKey(.query("appid"), "k"), Tracing { _ in }])
  }

  @Test("each request over the wire is adapted once, also where a redirect leads", arguments: outside)
  func hops(outside: [any HTTPMiddleware]) throws {
    let script: [ScriptedTransport.Step] = [
      .response(302, ["Location": "/b", "Set-Cookie": "a=1; Path=/"]),
      .status(200, "{}", ["Set-Cookie": "b=2; Path=/"]),
      .ok("{}"),
    ]
    let test = client(script, outside)
    for _ in 0..<2 { #expect(try test.run(Anything()).failure == nil) }
    let requests = test.transport.calls.map(\.request)
    expectEqual(requests.map { $0.headers["Cookie"] }, [nil, "a=1", "a=1; b=2"])
    expectEqual(requests.map { $0.url.query }, ["appid=k", "appid=k", "appid=k"])
    #expect(requests.allSatisfy { $0.headers.values(of: "traceparent").count == 1 })
  }

  @Test("a refusal is looked at, and shows the address as it was sent", arguments: outside)
  func refusal(outside: [any HTTPMiddleware]) throws {
    let test = client([.status(404, "{}", ["Set-Cookie": "a=1"]), .ok("{}")], outside)
    let failure = try #require(try test.run(Anything()).failure)
    expectEqual(failure.kind, .notFound)
    #expect(failure.call.url.hasSuffix("?appid=…"))
    _ = try test.run(Anything())
    expectEqual(test.transport.calls.last?.request.headers["Cookie"], "a=1")
  }

  @Test("what is told and what is sent is the same request", arguments: outside)
  func told(outside: [any HTTPMiddleware]) throws {
    let test = client([.ok("{}")], outside)
    _ = try test.run(Anything())
    let told = test.log.events.compactMap { event in
      if case .attemptBegan(_, let message) = event.kind { message } else { nil as TransportRequest? }
    }
    expectEqual(told.map(\.url), test.transport.calls.map(\.request.url))
    expectEqual(told.map(\.headers), test.transport.calls.map(\.request.headers))
  }
}

/// Middleware outside of all that adapts requests.
private struct Outside: HTTPMiddleware {
  var place: MiddlewarePlace { .deadlineHeader }

  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    next(request)
  }
}
