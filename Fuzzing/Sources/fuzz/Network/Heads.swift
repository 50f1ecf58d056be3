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
    var memory = CurlHeadTable()
    let told = heads(bytes, remembering: &memory)
    expect(told.count <= 1, "\(told.count) heads of one answer")
    for answer in told {
      expect(answer.status >= 200, "a status of \(answer.status)")
      let fieldBytes = answer.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
      expect(fieldBytes <= bytes.count * 3, "more than was sent")
      expect(!answer.headers.contains { $0.name.contains(":") }, "a name with a colon")
      expect(answer.headers.allSatisfy { !$0.value.utf8.contains(0x0A) }, "a value of two lines")
    }
    expect(heads(bytes, remembering: &memory) == told, "once more over the same handle it is another")
  }

  private static func heads(_ bytes: [UInt8], remembering memory: inout CurlHeadTable) -> [ResponseHead] {
    var head = CurlHead()
    var told: [ResponseHead] = []
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
      let answer = Array(line + [0x0A]).withUnsafeBytes {
        head.take($0, from: Address(anyURL), remembering: &memory)
      }
      if let answer { told.append(answer) }
    }
    return told
  }
}
