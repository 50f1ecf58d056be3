import Foundation

@testable import Rebound
@testable import ReboundHTTP
@testable import ReboundTesting

extension FuzzTarget {
  /// Multipart forms of data that users have typed: the parts that arrive are the parts that were sent.
  static let multipart = FuzzTarget(
    "multipart",
    seeds: ["name\nfile.txt\ntext/plain\ndata\r\n--x", "a\"b\nc\"\u{301}; filename=\"d\n\n--rebound-", "\r\n\\\n\na"],
    words: ["\"", "\"\u{301}", "\"; filename=\"", "\r\n", "\r", "--rebound-", "\\\""]
  ) { input in
    let parts = input.text().split(separator: "\n", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
    let part = { (index: Int) in index < parts.count ? parts[index] : "" }
    let sent = [
      MultipartPart.field(part(0), part(3)),
      .data(part(1), Data(part(3).utf8), fileName: part(0), contentType: part(2)),
    ]
    guard let form = try? Multipart(sent, random: .seeded(1)), let reader = try? form.body.open() else { return }
    var body = Data()
    while let piece = try? reader.read(upTo: 1_000), !piece.isEmpty { body += piece }
    if let length = form.body.length { expectEqual(Int(length), body.count, "the length that was told") }
    let boundary = form.contentType.dropFirst("multipart/form-data; boundary=".count)
    let (found, names) = sections(of: Array(body), apartBy: Array("--\(boundary)".utf8))
    expectEqual(found, [Array(part(3).utf8), Array(part(3).utf8)], "the contents")
    let escaped = { (text: String) in Array(text.utf8).flatMap { escape($0) } }
    expectEqual(names, [[escaped(part(0))], [escaped(part(1)), escaped(part(0))]], "the names")
  }

  /// As browsers write what would end a name.
  private static func escape(_ byte: UInt8) -> [UInt8] {
    switch byte {
    case 0x0D: Array("%0D".utf8)
    case 0x0A: Array("%0A".utf8)
    case 0x22: Array("%22".utf8)
    default: [byte]
    }
  }

  /// The contents of the parts, and what stands in quotes before them.
  private static func sections(of body: [UInt8], apartBy boundary: [UInt8]) -> ([[UInt8]], [[[UInt8]]]) {
    var (contents, names) = ([[UInt8]](), [[[UInt8]]]())
    for section in body.split(separator: boundary).dropLast() {
      guard let end = section.firstRange(of: [0x0D, 0x0A, 0x0D, 0x0A]) else { return ([], []) }
      contents.append(Array(section[end.upperBound...].dropLast(2)))
      let line = section.dropFirst(2).prefix { $0 != 0x0D && $0 != 0x0A }
      let quoted = line.split(separator: 0x22, omittingEmptySubsequences: false).enumerated()
      names.append(quoted.filter { $0.offset % 2 == 1 }.map { Array($0.element) })
    }
    return (contents, names)
  }
}
