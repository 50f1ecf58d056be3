import Foundation

@testable import Rebound
@testable import ReboundHTTP

/// An address for targets to which addresses do not matter.
let anyURL = URL(string: "https://api.example/a/b?q=1") ?? URL(fileURLWithPath: "/")

/// The fields of a text, a line for each, as a transport hands them over.
func fields(in text: String) -> [HTTPHeaders.Field] {
  text.utf8.split(separator: UInt8(ascii: "\n"), maxSplits: 5_000).compactMap { line in
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let value = trimmed(line[line.index(after: colon)...])
    return HTTPHeaders.Field(
      String(decoding: line[..<colon], as: UTF8.self),
      String(decoding: value, as: UTF8.self)
    )
  }
}

/// What of a text is made of the digits, letters and marks of ASCII, so that it stands for itself everywhere.
func plain(_ text: String) -> String {
  String(decoding: text.utf8.filter { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }, as: UTF8.self)
}
