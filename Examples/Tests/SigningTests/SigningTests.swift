import Combine
import Foundation
import Rebound
import ReboundHTTP
import ServerTesting
import Signature
import Testing

@testable import Backend
@testable import Signing

/// Over real sockets: the server makes each signature anew, from what has come.
@Suite("Signing")
struct SigningTests {
  private struct Receipt: Decodable, Equatable, Sendable {
    let entries: Int
    let bytes: Int
  }

  private struct Entry: ReboundHTTP.Request {
    var path: RequestPath
    var body: RequestBody
    var method: ReboundHTTP.HTTPMethod { .put }
    typealias Response = Receipt
  }

  private struct Log: Decodable {
    struct Entry: Decodable {
      let target: String
    }
    let requests: [Entry]
  }

  private func withClient(
    key: Data = LedgerService.key,
    adding middleware: [any HTTPMiddleware] = [],
    _ body: (WebAPIClient, BackendServer) async throws -> Void
  ) async throws {
    let backend = try BackendServer(.init(database: ":memory:") { Issue.record("the backend failed: \($0)") })
    let retries = RetryPolicy<NetworkFailure>(clamping: 2, backoff: .immediate)
    let client = WebAPIClient(
      baseURL: URL(string: backend.url),
      transport: URLSessionTransport(),
      middleware: [Signing(key: key), Retrying(retries)] + middleware,
      deliveringOn: nil
    )
    do {
      try await body(client, backend)
    } catch {
      await backend.stop()
      throw error
    }
    await backend.stop()
  }

  private func paths(_ backend: BackendServer) async throws -> [String] {
    let answer = try #require(try await LoopbackClient.request("GET", "/control/requests", port: backend.port))
    return try JSONDecoder().decode(Log.self, from: answer.body).requests.map(\.target)
  }

  @Test("a request is signed, and the server agrees, whatever stands in its path and query")
  func plain() async throws {
    try await withClient { client, _ in
      let receipt = try await client.value(of: Entry(path: "ledger/a b%2Fc", body: .form(["amount": 12])))
      #expect(receipt == Receipt(entries: 1, bytes: 9))
    }
  }

  @Test("what other middleware adds is signed with it, though it was given later")
  func programKey() async throws {
    try await withClient(adding: [APIKey(.query("program"), "example")]) { client, backend in
      let receipt = try await client.value(of: Entry(path: "ledger/1", body: .form(["amount": 12])))
      #expect(receipt.entries == 1)
      let asked = try await paths(backend)
      #expect(asked == ["/ledger/1?program=example"])
    }
  }

  @Test("each hop of a redirect is signed for its own path")
  func redirect() async throws {
    try await withClient { client, backend in
      let receipt = try await client.value(of: Entry(path: "old-ledger/1", body: .form(["amount": 12])))
      #expect(receipt.entries == 1)
      let asked = try await paths(backend)
      #expect(asked == ["/old-ledger/1", "/ledger/1"])
    }
  }

  @Test("a retry is signed anew, and so is what a redirect makes of it")
  func retry() async throws {
    try await withClient { client, backend in
      let fault = #"{"path":"/ledger/1","fault":"status","status":503,"times":1}"#
      _ = try await LoopbackClient.post(fault, to: "/control/faults", port: backend.port)
      let receipt = try await client.value(of: Entry(path: "old-ledger/1", body: .form(["amount": 12])))
      #expect(receipt.entries == 1)
      let asked = try await paths(backend)
      #expect(asked == ["/old-ledger/1", "/ledger/1", "/old-ledger/1", "/ledger/1"])
    }
  }

  @Test("a body that is streamed, of a length that nobody knows, is signed at each hop")
  func stream() async throws {
    try await withClient { client, backend in
      let fault = #"{"path":"/ledger/1","fault":"status","status":503,"times":1}"#
      _ = try await LoopbackClient.post(fault, to: "/control/faults", port: backend.port)
      let body = RequestBody.stream(BodyStream { Pieces(count: 40) }, contentType: "text/plain")
      let receipt = try await client.value(of: Entry(path: "old-ledger/1", body: body))
      #expect(receipt == Receipt(entries: 1, bytes: 40_000))
    }
  }

  @Test("another key is refused")
  func wrongKey() async throws {
    try await withClient(key: Data("guessed".utf8)) { client, _ in
      let failure = await #expect(throws: NetworkFailure.self) {
        try await client.value(of: Entry(path: "ledger/1", body: .form(["amount": 12])))
      }
      #expect(failure?.kind == .unauthorised)
    }
  }

  /// Puts an entry past the client, signed as if its body were another.
  private func put(
    _ target: String = "/ledger/1",
    sending body: String = "12",
    signed: String = "12",
    secondsAgo: Int = 0,
    to backend: BackendServer
  ) async throws -> Answer? {
    var digest = BodyDigest()
    digest.take(Data(signed.utf8))
    let date = "\(Int(Date().timeIntervalSince1970) - secondsAgo)"
    let signature = Signature(method: "PUT", path: target, date: date, digest: digest.text(), key: LedgerService.key)
    let headers = ["X-Date: \(date)", "Content-Digest: \(digest.text())", "Signature: \(signature.text)"]
    return try await LoopbackClient.request("PUT", target, port: backend.port, headers: headers, body: Data(body.utf8))
  }

  @Test(
    "who comes to the old address is sent on to the same entry, with the query as it was",
    arguments: [
      ("/old-ledger/1?from=/old-ledger/2", "/ledger/1?from=/old-ledger/2"), ("/old%2Dledger/1", "/ledger/1"),
      ("/old-ledger/a%2Fb%20Zo%C3%AB?x=%20+&?", "/ledger/a%2Fb%20Zo%C3%AB?x=%20+&?"),
    ]
  )
  func newAddress(target: String, location: String) async throws {
    try await withClient { _, backend in
      let answer = try await put(target, to: backend)
      #expect(answer?.status == 307)
      #expect(answer?["Location"] == location)
    }
  }

  @Test("a body that was changed on its way is refused, and so are a signature of an hour ago and none")
  func tampered() async throws {
    try await withClient { _, backend in
      func status(sending body: String, signed: String, secondsAgo: Int = 0) async throws -> Int? {
        try await put(sending: body, signed: signed, secondsAgo: secondsAgo, to: backend)?.status
      }
      let accepted = try await status(sending: "12", signed: "12")
      let changed = try await status(sending: "99", signed: "12")
      let old = try await status(sending: "12", signed: "12", secondsAgo: 3_600)
      let unsigned = try await LoopbackClient.request("PUT", "/ledger/1", port: backend.port)?.status
      #expect([accepted, changed, old, unsigned] == [201, 400, 401, 401])
    }
  }

  @Test("a body that can be read once is not sent at all")
  func onceOnly() async throws {
    try await withClient { client, backend in
      let once = BodyStream.once { _ in Data() }
      let failure = await #expect(throws: NetworkFailure.self) {
        try await client.value(of: Entry(path: "ledger/1", body: .stream(once, contentType: "text/plain")))
      }
      #expect(failure?.underlying is BodyCannotBeSigned)
      let asked = try await paths(backend)
      #expect(asked.isEmpty)
    }
  }

  @Test("digest and code are those that OpenSSL makes")
  func vectors() {
    var digest = BodyDigest()
    digest.take(Data("{\"hello\": ".utf8))
    digest.take(Data("\"world\"}\n".utf8))
    #expect(digest.text() == "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:")
    let signature = Signature(
      method: "PUT",
      path: "/ledger/1",
      date: "1700000000",
      digest: digest.text(),
      key: LedgerService.key
    )
    #expect(signature.text == "/WnvzJ+53S1pwkSDQZrSB6M02Y0dEvQH6Wc4hMpem68=")
    #expect(signature.isEqual(to: signature.text))
    #expect(!signature.isEqual(to: signature.text.lowercased()))
  }
}

/// Pieces of a thousand bytes.
private final class Pieces: BodyReader {
  private var rest: Int

  init(count: Int) {
    rest = count
  }

  func read(upTo count: Int) throws -> Data {
    guard rest > 0 else { return Data() }
    rest -= 1
    return Data(repeating: UInt8(ascii: "a"), count: 1_000)
  }
}
