import Expectations
import Foundation
import Testing

@testable import ReboundHTTP

@Suite("Authority")
struct AuthorityTests {
  @Test(
    "host and port are what Foundation has them be",
    arguments: [
      "https://api.example/a?b#c", "http://127.0.0.1:8080/", "http://localhost:1?q", "https://a.b-c.example",
      "https://api.example:443", "https://API.Example/", "http://[::1]:8080/", "https://user:secret@api.example/a@b",
      "https://user@api.example:81/", "https://a%41.example/", "https://api.example:/", "http://a.example:065535/",
      "https:///a", "mailto:a@b.example", "/relative:80/", "file:///a", "https://api.example#a@b",
      "https://a_b.example/",
    ]
  )
  func parts(text: String) throws {
    let url = try #require(URL(string: text))
    let authority = Authority(url)
    expectEqual(authority.host, url.host)
    expectEqual(authority.port, url.port)
    expectEqual(Authority.text(Address(url)), (url.host?.lowercased() ?? "") + (url.port.map { ":\($0)" } ?? ""))
  }

  @Test("an address below a base is that of the base")
  func relative() throws {
    let url = try #require(URL(string: "a", relativeTo: URL(string: "https://api.example:81/b/")))
    expectEqual(Authority(url).host, "api.example")
    expectEqual(Authority(url).port, 81)
  }
}
