import Foundation

@testable import ReboundHTTP

extension FuzzTarget {
  /// Pins of keys, the hosts that have them, and whether libcurl would ask another host than the one that was looked up.
  static let pins = FuzzTarget(
    "pins",
    seeds: [
      "sha256//d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=\napi.example\nhttps://API.example./a",
      "d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=\n::1\nhttps://[::1]/", "\n0x7f.1\nhttps://127.0.0.1",
    ],
    words: ["sha256//", "sha256/", "=", "https://", ".", "%2e", "@", "[::1]", "0x7f.1", "api.example"]
  ) { input in
    let parts = input.text().split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    let part = { (index: Int) in index < parts.count ? parts[index] : "" }
    if let pin = try? PublicKeyPin(part(0)) {
      expectEqual(Data(base64Encoded: pin.base64)?.count, 32, "the bytes of '\(part(0))'")
      expectEqual(try? PublicKeyPin(pin.description), pin, "what was written of '\(part(0))'")
    }
    guard let pin = try? PublicKeyPin("d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="),
      let host = try? CurlTransport.PinnedHost(part(1), includesSubdomains: true, pins: [pin])
    else { return }
    let pins = CurlPins([host])
    if let url = URL(string: "https://\(part(1))/"), CurlHost.name(in: url.absoluteString) != nil {
      expectEqual(pins.finding(for: url), .pinned(pin.description), "the pins of \(url)")
    }
    guard let url = URL(string: part(2)), let asked = CurlHost.name(in: url.absoluteString) else { return }
    let holds = asked == host.host || asked.hasSuffix(".\(host.host)")
    expectEqual(pins.finding(for: url) == .free, !holds, "whether \(url) has pins of \(host.host)")
  }
}
