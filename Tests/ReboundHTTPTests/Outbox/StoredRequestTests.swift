import Expectations
import Foundation
import Rebound
import Testing

@testable import ReboundHTTP

@Suite("Stored requests")
struct StoredRequestTests {
  @Test("a body may be just as long as the limit, and no longer", arguments: [true, false])
  func limit(isStream: Bool) throws {
    let bytes = Data("abc".utf8)
    let body: RequestBody =
      isStream ? .stream(BodyStream { DataReader(bytes) }, contentType: "a/b") : .data(bytes, contentType: "a/b")
    func stored(_ limit: Int) throws -> Data? {
      try StoredRequest(Anything(method: .post, body: body), redaction: .standard, random: .fixed(0), limit: limit).body
    }
    try expectEqual(stored(3), bytes)
    #expect(throws: RequestBodyTooLarge(limit: 2)) { try stored(2) }
  }

  /// Where a request has a credential, if it is refused.
  private func refusal(_ request: Anything) -> String? {
    do {
      _ = try StoredRequest(request, redaction: .standard, random: .fixed(0), limit: 3)
      return nil
    } catch {
      return (error as? RequestWithCredential)?.place ?? "\(error)"
    }
  }

  @Test("what is a credential by its value is refused, whatever its name")
  func credentialsByValue() throws {
    let token = "eyJhbGciOiJIUzI1NiJ9.e30.s3cret"
    expectEqual(refusal(Anything(headers: ["X-Forward": "Bearer s3cret"])), "the header field 'X-Forward'")
    #expect(refusal(Anything(headers: ["Referer": "https://a.example/?token=s3cret"])) == "the header field 'Referer'")
    expectEqual(refusal(Anything(query: ["assertion": token])), "the query parameter 'assertion'")
    let service = try #require(URL(string: "https://api.example/?\(token)"))
    expectEqual(refusal(Anything(baseURL: service)), "the query")
    #expect(
      refusal(Anything(headers: ["X-Forward": "Bearer", "Referer": "/?q=1"], query: ["assertion": "eye"])) == nil
    )
  }

  @Test(
    "what is a credential as little as it can be is taken",
    arguments: [
      Anything(query: ["title": "Basic training"]), Anything(query: ["title": "Bearer of news"]),
      Anything(headers: ["X-Subject": "Basic training"]), Anything(headers: ["X-Subject": "basic rules, and more"]),
      Anything(headers: ["Content-Location": "/a#v2"]), Anything(headers: ["Link": "</a?page=2#part>; rel=next"]),
    ]
  )
  func harmless(request: Anything) {
    #expect(refusal(request) == nil)
  }

  @Test(
    "a user with a password is refused, with and without padding",
    arguments: ["Basic bWU6aHVzaA==", "basic  bWU6aHVzaA", "BASIC bWU6aHVzaA==, Digest"]
  )
  func basicCredentials(value: String) {
    expectEqual(refusal(Anything(headers: ["X-Forward": value])), "the header field 'X-Forward'")
    expectEqual(refusal(Anything(headers: ["X-Token": "Basic training"])), "the header field 'X-Token'")
    expectEqual(refusal(Anything(headers: ["Content-Location": "/#token=hush"])), "the header field 'Content-Location'")
    expectEqual(refusal(Anything(query: ["token": "hush"])), "the query parameter 'token'")
  }

  @Test("a body that is too large is told in words for people")
  func wordsOfLargeBody() {
    let error = RequestBodyTooLarge(limit: 10)
    expectEqual(error.localizedDescription, "What you want to send is too large to be kept for later.")
    expectEqual(error.recoverySuggestion, "Send less at a time.")
  }
}
