import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

/// Signs what goes over the wire: HMAC over method, address, date and body digest.
private struct Signing: HTTPMiddleware {
  let key: Data
  var place: MiddlewarePlace { .signing }

  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    guard !request.hasLeftOrigin else { return next(request) }
    var signed = request
    do {
      let date = "\(HTTPDate(since1970: request.time.wallClock).secondsSinceEpoch)"
      let digest = try Self.digest(of: request.message.body)
      signed.message.headers["X-Date"] = date
      signed.message.headers["Content-Digest"] = digest
      signed.message.headers["Signature"] = Self.signature(
        request.message.method,
        request.message.url,
        date,
        digest,
        key: key
      )
    } catch {
      return Fail(error: request.failure(.invalidRequest, underlying: error)).eraseToAnyPublisher()
    }
    return next(signed)
  }

  static func digest(of body: TransportBody) throws -> String {
    let reader = try body.open()
    var content = Data()
    while case let piece = try reader.read(upTo: 4_096), !piece.isEmpty { content += piece }
    return SHA256.hash(content).base64EncodedString()
  }

  static func signature(_ method: HTTPMethod, _ url: URL, _ date: String, _ digest: String, key: Data) -> String {
    let text = [method.rawValue, url.absoluteString, date, digest].joined(separator: "\n")
    return SHA256.authenticationCode(of: Data(text.utf8), key: key).base64EncodedString()
  }
}

@Suite("A middleware that signs")
struct SigningTests {
  private static let key = Data("key".utf8)

  /// What a server says that checks the signature against what has come.
  private static func verified(
    _ answer: ScriptedTransport.Step,
    _ request: TransportRequest
  ) -> ScriptedTransport.Step {
    guard
      let date = request.headers["X-Date"], let digest = try? Signing.digest(of: request.body),
      request.headers.values(of: "Content-Digest") == [digest],
      request.headers.values(of: "Signature")
        == [Signing.signature(request.method, request.url, date, digest, key: key)]
    else { return .status(401) }
    return answer
  }

  private static func checking(_ answer: ScriptedTransport.Step) -> ScriptedTransport.Step {
    .answering { verified(answer, $0) }
  }

  private static func run(
    _ script: [ScriptedTransport.Step],
    _ request: Anything
  ) throws -> (calls: [ScriptedTransport.Call], failure: NetworkFailure?) {
    let retries = Retrying(.init(clamping: 2, backoff: .constant(.seconds(2))))
    let test = ClientUnderTest(script, [Signing(key: key), retries])
    let recorder = try test.run(request)
    return (test.transport.calls, recorder.failure)
  }

  @Test("HMAC-SHA256 is that of RFC 4231 §4.3")
  func hash() {
    let code = SHA256.authenticationCode(of: Data("what do ya want for nothing?".utf8), key: Data("Jefe".utf8))
    let digits = code.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
    expectEqual(digits, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test("signs each hop of a redirect as it is sent", arguments: [302, 303, 307])
  func redirects(status: Int) throws {
    let (calls, failure) = try Self.run(
      [
        Self.checking(.redirect(status, to: "/other")), Self.checking(.redirect(307, to: "/third")),
        Self.checking(.status(200)),
      ],
      Anything(path: "first", method: .post, body: .form(["a": 1]))
    )
    #expect(failure == nil)
    expectEqual(calls.map(\.request.url.path), ["/v1/first", "/other", "/third"])
    expectEqual(Set(calls.compactMap { $0.request.headers["Signature"] }).count, 3)
  }

  @Test("signs what is sent, with the program's key in its query, whatever order they are given in")
  func order() throws {
    let signing = Signing(key: Self.key)
    let program = APIKey(.query("appid"), "k3y")
    let retries = Retrying(.init(clamping: 2, backoff: .constant(.seconds(2))))
    let orders: [[any HTTPMiddleware]] = [
      [signing, program, retries], [program, signing, retries], [retries, signing, program],
    ]
    for order in orders {
      let test = ClientUnderTest([Self.checking(.redirect(307, to: "/other")), Self.checking(.status(200))], order)
      let recorder = try test.run(Anything())
      #expect(recorder.failure == nil, "\(test.client)")
      expectEqual(test.transport.calls.map(\.request.url.query), ["appid=k3y", "appid=k3y"])
      #expect("\(test.client)".hasSuffix("APIKey → Signing → ScriptedTransport"))
    }
  }

  @Test("signs each retry anew, with the date of its sending")
  func retries() throws {
    let (calls, failure) = try Self.run(
      [Self.checking(.status(503)), Self.checking(.redirect(307, to: "/other")), Self.checking(.status(200))],
      Anything(method: .put, body: .form(["a": 1]))
    )
    #expect(failure == nil)
    expectEqual(calls.count, 3)
    #expect(calls[0].request.headers["X-Date"] != calls[1].request.headers["X-Date"])
    expectEqual(calls[1].request.headers["X-Date"], calls[2].request.headers["X-Date"])
  }

  @Test("signs what is sent later with the date of its sending, not of its subscription")
  func demand() throws {
    let test = ClientUnderTest([Self.checking(.status(200))], [Signing(key: Self.key)])
    let recorder = Recorder<Data, NetworkFailure>(requesting: .none, on: test.scheduler)
    test.client.publisher(for: Anything()).subscribe(recorder)
    test.scheduler.advance(by: .seconds(60))
    #expect(test.transport.calls.isEmpty)
    recorder.request(.max(1))
    try test.scheduler.run()
    let deviceStart = ClientUnderTest.serverStart.secondsSinceEpoch - 3_600
    expectEqual(test.transport.calls.map { $0.request.headers["X-Date"] }, ["\(deviceStart + 60)"])
    #expect(recorder.isFinished)
  }

  @Test("signs a body that is streamed, at each hop")
  func streams() throws {
    let text = Data(String(repeating: "0123456789", count: 1_000).utf8)
    let body = BodyStream { Pieces(text) }
    let (calls, failure) = try Self.run(
      [Self.checking(.redirect(308, to: "/other")), Self.checking(.status(503)), Self.checking(.status(200))],
      Anything(method: .put, body: .stream(body, contentType: "text/plain"))
    )
    #expect(failure == nil)
    expectEqual(calls.map(\.body), [text, text, text])
  }

  @Test("knows of another origin, even when a redirect has led back, and keeps its signature from it")
  func otherOrigin() throws {
    let (calls, failure) = try Self.run(
      [
        Self.checking(.redirect(to: "https://other.example/")), .redirect(to: "https://api.example/back"), .status(200),
      ],
      Anything()
    )
    #expect(failure == nil)
    expectEqual(calls.map { $0.request.headers.contains(name: "Signature") }, [true, false, false])
  }
}

/// Reads a text in pieces of an odd length.
private final class Pieces: BodyReader {
  private var rest: Data

  init(_ text: Data) {
    rest = text
  }

  func read(upTo count: Int) throws -> Data {
    let piece = rest.prefix(min(count, 777))
    rest = rest.dropFirst(777)
    return Data(piece)
  }
}
