import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("A client with cookies")
struct CookiesTests {
  static func setting(_ value: String, _ status: Int = 200) -> ScriptedTransport.Step {
    .status(status, "{}", ["Set-Cookie": value])
  }

  static func sent(_ test: ClientUnderTest) -> [String?] { test.transport.calls.map { $0.request.headers["Cookie"] } }

  @Test("sends back what was set, to the one who has set it; without the middleware nothing is")
  func sends() throws {
    let steps = [Self.setting("a=1; Path=/"), .ok("{}"), .ok("{}")]
    let test = ClientUnderTest(steps, [Cookies()])
    for base in ["https://api.example", "https://api.example", "https://other.example"] {
      _ = try test.run(Anything(baseURL: URL(string: base)))
    }
    expectEqual(Self.sent(test), [nil, "a=1", nil])
    let without = ClientUnderTest(steps)
    for _ in 0..<2 { _ = try without.run(Anything()) }
    expectEqual(Self.sent(without), [nil, nil])
  }

  @Test("a redirect's own cookies go along with the next request, and stay behind at another host")
  func redirect() throws {
    let login = ScriptedTransport.Step.response(302, ["Location": "/in", "Set-Cookie": "session=1; Path=/"])
    let test = ClientUnderTest([login, .redirect(to: "https://other.example/"), .ok("{}")], [Cookies()])
    _ = try test.run(Anything())
    expectEqual(Self.sent(test), [nil, "session=1", nil])
  }

  @Test("a refusal sets cookies, too, and the next attempt sends them")
  func retry() throws {
    let retrying = Retrying(RetryPolicy(clamping: 1, backoff: .immediate))
    let test = ClientUnderTest([Self.setting("a=1", 503), .ok("{}")], [retrying, Cookies()])
    #expect(try test.run(Anything()).failure == nil)
    expectEqual(Self.sent(test), [nil, "a=1"])
  }

  @Test("what signs a request sees them, wherever it stands in the list")
  func signing() throws {
    struct Signing: HTTPMiddleware {
      func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
        var request = request
        request.message.headers["Signature"] = "of \(request.message.headers["Cookie"] ?? "none")"
        return next(request)
      }
    }
    let test = ClientUnderTest([Self.setting("a=1"), .ok("{}")], [Signing(), Cookies()])
    for _ in 0..<2 { _ = try test.run(Anything()) }
    expectEqual(test.transport.calls.map { $0.request.headers["Signature"] }, ["of none", "of a=1"])
  }

  @Test("a Cookie field of the request's own stays as it is")
  func own() throws {
    let test = ClientUnderTest([Self.setting("a=1"), .ok("{}")], [Cookies()])
    _ = try test.run(Anything())
    _ = try test.run(Anything(headers: ["Cookie": "b=2"]))
    expectEqual(Self.sent(test), [nil, "b=2"])
  }

  @Test("times go by the client's clock")
  func time() throws {
    let test = ClientUnderTest([Self.setting("a=1; Max-Age=10"), .ok("{}"), .ok("{}")], [Cookies()])
    _ = try test.run(Anything())
    test.scheduler.advance(by: 9)
    _ = try test.run(Anything())
    test.scheduler.advance(by: 1)
    _ = try test.run(Anything())
    expectEqual(Self.sent(test), [nil, "a=1", nil])
  }

  @Test("clients with the same middleware share them, and can be given those of an earlier run, or none")
  func sharing() throws {
    let cookies = Cookies()
    let first = ClientUnderTest([Self.setting("a=1")], [cookies])
    _ = try first.run(Anything())
    let later = Cookies(cookies.jar)
    let second = ClientUnderTest([.ok("{}"), .ok("{}"), .ok("{}")], [later])
    _ = try second.run(Anything())
    later.endSession()
    _ = try second.run(Anything())
    later.replaceAll(with: cookies.jar)
    _ = try second.run(Anything())
    expectEqual(Self.sent(second), ["a=1", nil, "a=1"])
  }

  @Test("no log has their values")
  func redaction() throws {
    let test = ClientUnderTest(
      [Self.setting("session=hunter2"), .status(403, "{}", ["Set-Cookie": "b=hunter3"])],
      [Cookies()]
    )
    _ = try test.run(Anything())
    let failure = try #require(try test.run(Anything()).failure)
    expectEqual(test.transport.calls[1].request.headers["Cookie"], "session=hunter2")
    let archive = test.client.redaction.headers(test.transport.calls[1].request.headers)
    #expect(!("\(test.log.lines)\(failure)\(archive)").contains("hunter"))
  }
}
