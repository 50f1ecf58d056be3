import Expectations
import Foundation
import ReboundTesting
import Testing

@testable import ReboundHTTP

@Suite("Address")
struct AddressTests {
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
}
