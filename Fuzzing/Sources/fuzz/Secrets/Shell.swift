import Foundation

@testable import Rebound
@testable import ReboundHTTP

extension FuzzTarget {
  /// Requests as commands for a shell: nothing in them is anything but a word.
  static let shell = FuzzTarget(
    "shell",
    seeds: ["\u{1}\u{5}it'sX\n'; rm -rf ~; echo '$(x)`y`\\", "\0\0a'\u{301}b", "\u{2}\u{3}a'b\r\nc"],
    words: ["'", "'\u{301}", "'\u{FE0F}", "\\'", "$(", "`", "\r\n", "\n", ";"]
  ) { input in
    let methods = [HTTPMethod.post, "PURGE", "a'b", "'\u{308}"]
    let method = methods[input.number(below: methods.count)]
    let value = input.shortText().replacingOccurrences(of: "\0", with: "")
    let body = input.text().replacingOccurrences(of: "\0", with: "")
    let request = TransportRequest(anyURL, method: method, headers: ["X-A": value], body: .data(Data(body.utf8)))
    let command = request.curl()
    // With a colon alone curl would leave the field out.
    let field = value.isEmpty ? "X-A;" : "X-A: \(value)"
    let words = ["curl", "-X", method.rawValue, Redaction.standard.url(anyURL), "-H", field]
    expectEqual(
      shellWords(command).map { $0.map { Array($0.utf8) } },
      (words + ["-H", "Content-Type:", "--data-raw", Redaction.standard.text(body)]).map { Array($0.utf8) },
      command
    )
  }

  /// What a POSIX shell takes for the words of a command; `nil` if it is more than words.
  private static func shellWords(_ command: String) -> [String]? {
    var (words, word, isQuoted, isEscaped) = ([[UInt8]](), [UInt8]?.none, false, false)
    for byte in command.utf8 {
      switch byte {
      case UInt8(ascii: "'") where !isEscaped:
        isQuoted.toggle()
        word = word ?? []
      case _ where isQuoted || isEscaped:
        word = (word ?? []) + [byte]
        isEscaped = false
      case UInt8(ascii: "\\"):
        isEscaped = true
      case UInt8(ascii: " "):
        if let word { words.append(word) }
        word = nil
      case _ where "-_".utf8.contains(byte) || (0x30...0x7A).contains(byte) && !";<=>?[]^`".utf8.contains(byte):
        word = (word ?? []) + [byte]
      default:
        return nil
      }
    }
    if let word { words.append(word) }
    return isQuoted || isEscaped ? nil : words.map { String(decoding: $0, as: UTF8.self) }
  }
}
