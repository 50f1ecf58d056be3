import Expectations
import Foundation
import Rebound
import ReboundOutbox
import Testing

@testable import ReboundHTTP

@Suite("Stored requests on their way")
struct StoredRequestSendingTests {
  private static func delivery(
    to target: String,
    hasOwnService: Bool = false,
    below base: String? = "https://api.example/v1/?key=1"
  ) throws -> OutboxDelivery {
    let members: [String: Any] = [
      "operation": "Order", "verb": "POST", "target": target, "hasOwnService": hasOwnService, "fields": [],
      "isAuthenticated": true, "isRepeatable": true, "firstValidStatus": 200, "lastValidStatus": 299,
    ]
    let stored = try JSONDecoder().decode(StoredRequest.self, from: JSONSerialization.data(withJSONObject: members))
    let entry = OutboxEntry(
      id: OutboxEntryID(1),
      key: "k",
      payload: stored,
      idempotencyKey: "i",
      enqueuedAt: Date(timeIntervalSince1970: 0)
    )
    return try OutboxDelivery(entry, below: base.flatMap { URL(string: $0) })
  }

  @Test(
    "go below the address of the client",
    arguments: [
      ("orders/a%2Fb?note=50%20%25", "https://api.example/v1/orders/a%2Fb?key=1&note=50%20%25"),
      ("", "https://api.example/v1/?key=1"), ("?a=b", "https://api.example/v1/?key=1&a=b"),
      ("//other.example/x", "https://api.example/v1///other.example/x?key=1"),
      ("@other.example", "https://api.example/v1/@other.example?key=1"),
    ]
  )
  func below(target: String, address: String) throws {
    try expectEqual(Self.delivery(to: target).message().url.absoluteString, address)
  }

  @Test(
    "are refused with a word about the address, if a file says one that is none",
    arguments: ["%", "a%zz", "a?b=%", "a b", "é", "a#b", "\u{0}", "a\r\nb", "[", "\\\\other.example"]
  )
  func malformed(target: String) {
    let error = #expect(throws: InvalidRequest.self) { try Self.delivery(to: target) }
    expectEqual(error?.description.contains("cannot be called"), true)
  }

  @Test("of their own service go there, or are refused if that is none")
  func ownService() throws {
    let delivery = try Self.delivery(to: "https://other.example/a?b=c", hasOwnService: true, below: nil)
    #expect(try delivery.message().url.absoluteString == "https://other.example/a?b=c")
    #expect(throws: InvalidRequest.self) { try Self.delivery(to: "", hasOwnService: true).message() }
    #expect(throws: InvalidRequest.self) { try Self.delivery(to: "file:///a", hasOwnService: true).message() }
  }

  @Test("need an address to be below")
  func noService() {
    let error = #expect(throws: InvalidRequest.self) { try Self.delivery(to: "a", below: nil) }
    expectEqual(error?.description.contains("no service"), true)
  }
}
