import Expectations
import Foundation
import Testing

@testable import ReboundHTTP

@Suite("What is asked for, as one text")
struct URLCanonicalTests {
  @Test(
    "is the same however an address is spelt (RFC 9110 §4.2.3)",
    arguments: [
      ("https://api.example/a", "https://api.example/a"), ("https://api.example/a#top", "https://api.example/a"),
      ("HTTPS://API.Example/A?B", "https://api.example/A?B"), ("https://api.example:443/a", "https://api.example/a"),
      ("https://api.example:/a", "https://api.example/a"), ("http://api.example:80/a", "http://api.example/a"),
      ("http://api.example:443/a", "http://api.example:443/a"),
      ("https://api.example:8443/a", "https://api.example:8443/a"),
      ("https://api.example:80/a", "https://api.example:80/a"),
      ("http://api.example:080/a", "http://api.example:080/a"),
      ("http://127.0.0.1:8080/a#top", "http://127.0.0.1:8080/a"),
      ("http://127.0.0.1:8080?q=/", "http://127.0.0.1:8080/?q=/"),
      ("https://api.example", "https://api.example/"), ("https://api.example?q=1", "https://api.example/?q=1"),
      ("https://api.example#top", "https://api.example/"),
      ("https://api.example/a?b=//C:443", "https://api.example/a?b=//C:443"),
      ("https://Me:Word@API.example/a", "https://Me:Word@api.example/a"), ("https://[::1]:443/a", "https://[::1]/a"),
      ("https://[2001:DB8::80]/a", "https://[2001:db8::80]/a"), ("data:,A#b", "data:,A"),
    ]
  )
  func spellings(address: String, canonical: String) throws {
    try expectEqual(#require(URL(string: address)).canonical, canonical)
  }
}
