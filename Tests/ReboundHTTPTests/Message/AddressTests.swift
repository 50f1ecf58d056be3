import Expectations
import Foundation
import Testing

@testable import ReboundHTTP

@Suite("Address")
struct AddressTests {
  private static func address(_ text: String) throws -> Address { Address(try #require(URL(string: text))) }

  @Test("an address of a URL is that URL, also one that is relative to another")
  func ofURL() throws {
    let base = try #require(URL(string: "https://api.example/v1/"))
    let url = try #require(URL(string: "../a b?c=d#e", relativeTo: base))
    expectEqual(Address(url).text, "https://api.example/a%20b?c=d#e")
    expectEqual(Address(url).url, url)
  }

  @Test("a text becomes a URL when somebody asks, and the same for all who ask at once")
  func ofText() async {
    let address = Address(valid: "https://api.example/a?b=c")
    let urls = await withTaskGroup(of: URL.self) { group in
      for _ in 0..<8 { group.addTask { address.url } }
      return await group.reduce(into: [URL]()) { $0.append($1) }
    }
    expectEqual(Set(urls.map(\.absoluteString)), ["https://api.example/a?b=c"])
    expectEqual(urls.count, 8)
  }

  @Test(
    "what is known of a service is what its addresses say themselves",
    arguments: [
      "http://api.example/", "https://api.example:443/", "https://API.example/v1/", "http://me:word@api.example/",
      "http://127.0.0.1:8080/", "https://[::1]:80/a/", "https://api.example/a%2Fb/", "HTTPS://api.example:0443/",
    ]
  )
  func below(service: String) throws {
    let root = AddressRoot(Address(valid: service))
    for rest in ["", "a", "a?b=c", "?b=@//", "a//b/"] {
      let below = Address(valid: service + rest, below: root)
      let alone = Address(valid: service + rest)
      expectEqual(below.authority.host, alone.authority.host)
      expectEqual(below.authority.port, alone.authority.port)
      expectEqual(below.authorityText, alone.authorityText)
      expectEqual(below.scheme, alone.scheme)
      expectEqual(below.canonical, alone.canonical)
      expectEqual(below.originCount, alone.originCount)
      expectEqual(below.origin, alone.origin)
    }
  }

  @Test(
    "the origin is what comes before the path, of an address that has one, and no user and no fragment",
    arguments: [
      ("http://api.example/", "http://api.example"),
      ("https://api.example:8443/a/b?c=d@e/f", "https://api.example:8443"),
      ("http://[::1]:80/a?", "http://[::1]:80"),
      ("http://API_1.example//a", "http://API_1.example"),
      ("http://api.example", nil),
      ("http://api.example?a=/b", nil),
      ("http://me@api.example/", nil),
      ("http://me:secret@api.example/", nil),
      ("http://api.example/a#b", nil),
      ("http://api.example#/a", nil),
    ]
  )
  func origins(address: String, origin: String?) throws {
    expectEqual(try Self.address(address).origin, origin)
  }

  @Test(
    "an address has the origin of another only where it is written in the same way",
    arguments: [
      ("http://api.example", true), ("http://api.exampl", false), ("http://api.example/", false),
      ("http://API.example", false), ("https://api.example", false), ("", false),
    ]
  )
  func spelling(origin: String, isSame: Bool) throws {
    expectEqual(try Self.address("http://api.example/a").hasOrigin(origin), isSame)
  }
}
