import Foundation

@testable import Rebound
@testable import ReboundHTTP

extension FuzzTarget {
  /// What must not be seen in texts, forms, addresses and header fields.
  static let redaction = FuzzTarget(
    "redaction",
    seeds: [
      "\0\u{4}\u{301}\u{327}\"\u{301}\u{327}\"",
      #"{"user":"joe","password":"s3cret","a":[{"token" : "s3\"cret"}]}"#,
      "\u{1}\u{3}\u{5}\u{7}\u{9}\u{2}\u{4}\u{6}\u{8}abcdefgh\u{1}\u{3}",
      "a=1&token=s3cret&to%6Ben=x&=&&x",
      #"in text","password":"s3cret","n":"1"}"#,
      "https://me:s3cret@api.example/a?token=s3cret&q=1#s3cret",
    ],
    words: [
      #""password":"#, #""token" : "#, "\\\"", "\"", "\\", "{", "[", "},", "]", "token=", "&", "%6B", "\u{301}", "…",
    ]
  ) { input in
    var steering = input
    checkDocument(&steering)
    let text = input.text()
    let shown = Redaction.standard.text(text)
    expectEqual(Redaction.standard.text(shown), shown, "twice is not as once for \(text.debugDescription)")
    let pairs = Redaction.standard.pairs(text)
    expectEqual(Redaction.standard.pairs(pairs), pairs, "twice is not as once for \(text.debugDescription)")
    // Each secret may be one byte or none, and its stand-in has five.
    expect(shown.utf8.count <= text.utf8.count * 6 + 6, "more than was there")
    if let url = URL(string: text) { _ = Redaction.standard.url(url) }
    expect(
      !Redaction.standard.line("\(text) \"https://me:\(secret)@a.example/").contains(secret),
      "\(text) hides nothing"
    )
    checkAddress(text)
    checkForm(text)
  }

  private static let secret = "HUNTER2"

  private static func checkForm(_ text: String) {
    let value = String(decoding: text.utf8.filter { $0 != UInt8(ascii: "&") }, as: UTF8.self)
    let form = "\(text)&pass%77ord=\(value)\(secret)&\(text)"
    let shown = Redaction.standard.pairs(form)
    expect(!shown.contains(secret), "\(form) is shown as \(shown)")
    let body = "\(text)&pass%77ord=\(secret)&\(text)"
    let shownBody = Redaction.standard.text(body)
    expect(!shownBody.contains(secret), "\(body) is shown as \(shownBody)")
  }

  private static func checkAddress(_ text: String) {
    let other = text.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? ""
    let path = text.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? ""
    let address = "https://me\(plain(text)):\(secret)@a.example/\(path)?\(other)&ToKen=\(secret)&x=\(other)#\(secret)"
    guard let url = URL(string: address) else { return }
    let shown = Redaction.standard.url(url)
    expect(!shown.contains(secret), "\(address) is shown as \(shown)")
  }

  /// A document with secrets, written in one of many ways, and cut off.
  private static func checkDocument(_ input: inout FuzzInput) {
    var document = ""
    var starts: [String.Index] = []
    write(&document, &starts, depth: 0, &input)
    let end = document.utf8.index(
      document.startIndex,
      offsetBy: Int(input.integer().magnitude % 4_096),
      limitedBy: document.endIndex
    )
    let start = starts.isEmpty ? document.startIndex : starts[input.number(below: starts.count)]
    for text in [document[...], document[..<(end ?? document.endIndex)], document[start...]] {
      let shown = Redaction.standard.text(String(text))
      expect(!shown.contains(secret), "\(text) is shown as \(shown)")
    }
  }

  /// - Parameter starts: Places outside of secrets, where a text may begin.
  private static func write(_ json: inout String, _ starts: inout [String.Index], depth: Int, _ input: inout FuzzInput)
  {
    let kind = input.isEmpty || depth > 4 ? 0 : input.number(below: 8)
    switch kind {
    case 0, 1:
      json += quoted(input.shortText())
    case 2:
      json += "-12.5e3"
    case 3, 4:
      json += "["
      for index in 0..<input.number(below: 4) {
        if index > 0 { json += blank(&input) + "," + blank(&input) }
        write(&json, &starts, depth: depth + 1, &input)
      }
      json += "]"
    default:
      json += "{"
      for index in 0..<input.number(below: 5) {
        if index > 0 { json += blank(&input) + "," + blank(&input) }
        starts.append(json.endIndex)
        if input.bool() {
          json += secretName(&input) + blank(&input) + ":" + blank(&input)
          writeSecret(&json, depth: 0, &input)
        } else {
          json += quoted(input.shortText()) + blank(&input) + ":" + blank(&input)
          write(&json, &starts, depth: depth + 1, &input)
        }
      }
      json += "}"
    }
  }

  private static func writeSecret(_ json: inout String, depth: Int, _ input: inout FuzzInput) {
    switch input.isEmpty || depth > 3 ? 0 : input.number(below: 5) {
    case 0, 1: json += quoted(input.shortText() + secret + input.shortText())
    case 2:
      json += "["
      writeSecret(&json, depth: depth + 1, &input)
      json += "," + quoted(secret) + "]"
    case 3:
      json += "{" + quoted(input.shortText()) + ":"
      writeSecret(&json, depth: depth + 1, &input)
      json += blank(&input) + "}"
    default: json += "\"\(secret)\""
    }
  }

  private static func secretName(_ input: inout FuzzInput) -> String {
    let names = ["password", "Token", "API_KEY", "client_secret", #"pass\u0077ord"#, #"\u0074oken"#]
    return "\"\(names[input.number(below: names.count)])\""
  }

  private static func blank(_ input: inout FuzzInput) -> String {
    ["", "", " ", "\n", "\r\n\t", "  "][input.number(below: 6)]
  }

  private static func quoted(_ text: String) -> String {
    let data = try? JSONEncoder().encode(text)
    return data.map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
  }
}
