import Foundation

@testable import Rebound
@testable import ReboundHTTP

/// What answers are decoded as.
private struct Place: Decodable {
  struct Part: Decodable { let name: String? }
  let id: Int
  let parts: [Part]
  let date: Date?
  let ratio: Double?
  let link: URL?
}

extension FuzzTarget {
  /// Media types, pages of captive portals, texts, and what is said about answers that cannot be decoded.
  static let answers = FuzzTarget(
    "answers",
    seeds: [
      "\0\u{4}\u{301}\u{327}\n{}",
      "Application/JSON ; charset=utf-8\n{\"id\":1,\"parts\":[{\"name\":\"a\"},{\"name\":2}],\"link\":\"a b\"}",
      "text/html\n\u{FEFF} \n<!DOCTYPE html><html>",
      "text/html;q\n<p>sign in",
      "text/plain\n{\"id\":\"x\",\"password\":\"s3cret\"}",
      "\n",
    ],
    words: [
      "text/html", "<html", "<!doctype html", "\u{FEFF}", #""id":"#, #""parts":"#, #""date":1e300"#, #""password":"#,
    ]
  ) { input in
    let bytes = input.rest()
    let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
    let type = String(decoding: bytes[..<end], as: UTF8.self)
    let body = Data(bytes[end...].dropFirst())
    let head = ResponseHead(status: 200, headers: ["Content-Type": type], url: anyURL)
    let response = HTTPResponse(head: head, body: body, receivedAt: HTTPDate(secondsSinceEpoch: 0))
    if let mediaType = response.mediaType {
      expect(!mediaType.utf8.contains(UInt8(ascii: ";")), "'\(mediaType)' has parameters")
    }
    if response.isWebPage { expect(body.contains(UInt8(ascii: "<")), "a page without a tag") }
    if let text = try? ResponseParser<String>.text.parse(response) { expectEqual(Data(text.utf8), body, "the text") }
    do {
      _ = try ResponseParser<Place>.json().parse(response)
    } catch {
      let failure = DecodingFailure(error, body: body)
      expect(failure.snippet.count <= DecodingFailure.snippetLength, "a snippet of \(failure.snippet.count)")
      _ = failure.description
    }
  }
}
