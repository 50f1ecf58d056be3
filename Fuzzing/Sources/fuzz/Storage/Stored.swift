import Foundation
import ReboundOutbox

@testable import Rebound
@testable import ReboundHTTP

extension FuzzTarget {
  /// Requests that were stored, by this version or by anybody, and are sent now.
  static let stored = FuzzTarget(
    "stored",
    seeds: ["orders?a=1", "%", "a%zz?b=%", "?", "é b", "//evil.example", "https://x.example/"].map { target in
      #"{"operation":"Order","verb":"POST","target":"\#(target)","hasOwnService":false,"fields":[{"name":"A","value":"b"}],"#
        + #""isAuthenticated":true,"isRepeatable":true,"firstValidStatus":200,"lastValidStatus":299,"body":"AAAA"}"#
    },
    words: [
      #""target":"#, #""hasOwnService":true"#, #""verb":"#, #""fields":"#, #""firstValidStatus":"#, "%", "?", "#", "//",
      "http://", "..", "@", ":", #"\r\n"#, #"\u0000"#, "9223372036854775807",
    ]
  ) { input in
    guard let request = try? JSONDecoder().decode(StoredRequest.self, from: Data(input.rest())) else { return }
    for base in ["https://api.example", "https://api.example/v1/?key=1", "https://me@api.example:8443/%20"] {
      guard let base = URL(string: base) else { continue }
      let entry = OutboxEntry(
        id: OutboxEntryID(1),
        key: "k",
        payload: request,
        idempotencyKey: "i",
        enqueuedAt: Date(timeIntervalSince1970: 0)
      )
      guard let delivery = try? OutboxDelivery(entry, below: base) else { continue }
      expect(delivery.validStatuses.lowerBound <= delivery.validStatuses.upperBound, "no status is valid")
      guard let message = try? delivery.message() else { continue }
      check(message, request, below: base)
    }
    guard let again = try? JSONEncoder().encode(request) else { return expect(false, "it cannot be stored again") }
    expectEqual(try? JSONDecoder().decode(StoredRequest.self, from: again), request, "it comes back changed")
  }

  private static func check(_ message: TransportRequest, _ request: StoredRequest, below base: URL) {
    expect(message.headers.allSatisfy(\.isValid), "fields that cannot be sent: \(message.headers)")
    expect(["http", "https"].contains(message.url.scheme?.lowercased()), "it goes to \(message.url)")
    guard !request.hasOwnService else { return }
    expectEqual(message.url.scheme, base.scheme, "the scheme of '\(request.target)'")
    expectEqual(message.url.host, base.host, "the host of '\(request.target)'")
    expectEqual(message.url.port, base.port, "the port of '\(request.target)'")
    expectEqual(CurlHost.name(in: message.url.absoluteString), base.host, "libcurl's host of '\(request.target)'")
  }
}
