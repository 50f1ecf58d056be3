import Foundation

@testable import ReboundHTTP

extension FuzzTarget {
  /// The head of an answer, line by line, as libcurl hands it over.
  static let heads = FuzzTarget(
    "heads",
    seeds: [
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n c\r\n\td \r\nB:c\r\n\r\n",
      "HTTP/2 99999999999999999999\r\n\r\n", " x\r\n:\r\nHTTP/1.1 -200\n\n", "HTTP/ +404 \r\nA\r\n\r\n",
    ],
    words: ["HTTP/1.1 200 OK\r\n", "\r\n\r\n", "\r\n ", ": ", "+200"]
  ) { input in
    let bytes = input.rest()
    var (head, told, fieldBytes) = (CurlHead(), 0, 0)
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
      let answer = Array(line + [0x0A]).withUnsafeBytes { head.take($0, from: anyURL) }
      guard let answer else { continue }
      told += 1
      expect(answer.status >= 200, "a status of \(answer.status)")
      fieldBytes = answer.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
      expect(!answer.headers.contains { $0.name.contains(":") }, "a name with a colon")
      expect(answer.headers.allSatisfy { !$0.value.utf8.contains(0x0A) }, "a value of two lines")
    }
    expect(told <= 1, "\(told) heads of one answer")
    expect(fieldBytes <= bytes.count * 3, "more than was sent")
  }
}
