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
    #expect(try stored(3) == bytes)
    #expect(throws: RequestBodyTooLarge(limit: 2)) { try stored(2) }
  }

  @Test("what is a credential by its value is refused, whatever its name")
  func credentialsByValue() throws {
    let token = "eyJhbGciOiJIUzI1NiJ9.e30.s3cret"
    func refusal(_ request: Anything) -> String? {
      do {
        _ = try StoredRequest(request, redaction: .standard, random: .fixed(0), limit: 3)
        return nil
      } catch {
        return (error as? RequestWithCredential)?.place ?? "\(error)"
      }
    }
    #expect(refusal(Anything(headers: ["X-Forward": "Bearer s3cret"])) == "the header field 'X-Forward'")
    #expect(refusal(Anything(headers: ["Referer": "https://a.example/?token=s3cret"])) == "the header field 'Referer'")
    #expect(refusal(Anything(query: ["assertion": token])) == "the query parameter 'assertion'")
    let service = try #require(URL(string: "https://api.example/?\(token)"))
    #expect(refusal(Anything(baseURL: service)) == "the query")
    #expect(
      refusal(Anything(headers: ["X-Forward": "Bearer", "Referer": "/?q=1"], query: ["assertion": "eye"])) == nil
    )
  }

  @Test("a body that is too large is told in words for people")
  func wordsOfLargeBody() {
    let error = RequestBodyTooLarge(limit: 10)
    #expect(error.localizedDescription == "What you want to send is too large to be kept for later.")
    #expect(error.recoverySuggestion == "Send less at a time.")
  }
}
