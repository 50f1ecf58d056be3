import Expectations
import Foundation
import ReboundHTTP
import Testing

@Suite("HAR of failures")
struct HARFailuresTests {
  @Test(
    "what a system says has no secrets of the request, whatever marks stand around them",
    arguments: [
      ("no answer for s3cret, or k3y", "no answer for …, or …"),
      ("s3cret\u{301} and \u{301}s3cret", "…\u{301} and \u{301}…"),
      ("(k3y\u{FE0F})", "(…\u{FE0F})"), ("joe\u{301}:pass", "…\u{301}:…"), ("s3cre", "s3cre"),
    ]
  )
  func detail(said: String, kept: String) throws {
    let url = try #require(URL(string: "https://joe:pass@a.example/p?q=no&token=s3cret"))
    let message = TransportRequest(url, headers: ["X-API-Key": "k3y"])
    let failure = HAR.Failure(TransportFailure(.connect, detail: said), of: message, .standard)
    expectEqual(failure.detail.map { Array($0.utf8) }, Array(kept.utf8))
  }

  @Test(
    "what a system says has no secrets of the address, as it spells them or as they are meant",
    arguments: [
      ("no such user: jo%40e", "no such user: …"), ("no such user: jo@e", "no such user: …"),
      ("https://jo%40e:p%2Fw@a.example", "https://…:…@a.example"), ("jo@e:p/w", "…:…"),
      ("token s3%2Fcret", "token …"), ("token s3/cret", "token …"),
      ("key k%33y", "key …"), ("key k3y", "key …"), ("jo%40", "jo%40"),
    ]
  )
  func percentEncoding(said: String, kept: String) throws {
    let url = try #require(URL(string: "https://jo%40e:p%2Fw@a.example/p?token=s3%2Fcret&api%5Fkey=k%33y"))
    let failure = HAR.Failure(TransportFailure(.connect, detail: said), of: TransportRequest(url), .standard)
    expectEqual(failure.detail, kept)
  }

  @Test("what is a credential by its value is left out, too")
  func credentialsByValue() throws {
    let token = "eyJhbGciOiJIUzI1NiJ9.e30.s3cret"
    let url = try #require(URL(string: "https://a.example/p?assertion=\(token)&flag&\(token)no"))
    let message = TransportRequest(url, headers: ["X-Forward": "Bearer s3cret"])
    let said = "no flag for \(token), \(token)no and Bearer s3cret"
    let failure = HAR.Failure(TransportFailure(.connect, detail: said), of: message, .standard)
    expectEqual(failure.detail, "no flag for …, … and …")
  }

  @Test("what is known of the sending and of the server is kept, and files of earlier versions are read")
  func knowledge() throws {
    let url = try #require(URL(string: "https://a.example/"))
    for isUnprocessed in [false, true] {
      let failure = TransportFailure(.reset, bytesSent: 5, isUnsent: false, isUnprocessed: isUnprocessed)
      let kept = HAR.Failure(failure, of: TransportRequest(url), .standard)
      let read = try JSONDecoder().decode(HAR.Failure.self, from: JSONEncoder().encode(kept)).transportFailure
      expectEqual(read.isUnsent, false)
      expectEqual(read.isUnprocessed, isUnprocessed)
    }
    let earlier = try JSONDecoder().decode(HAR.Failure.self, from: Data(#"{"kind":"reset"}"#.utf8)).transportFailure
    expectEqual(earlier.isUnprocessed, false)
  }
}
