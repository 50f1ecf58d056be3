import Foundation

// MARK: - Writing, without secrets

extension HAR.Request {
  /// - Parameters:
  ///   - message: What was sent.
  ///   - body: What was sent along; `nil` if nobody has read it.
  ///   - redaction: What must not be seen.
  package init(_ message: TransportRequest, body: Data?, _ redaction: Redaction) {
    let type = message.headers["Content-Type"]
    let items = URLComponents(url: message.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    self.init(
      method: message.method.rawValue,
      url: redaction.url(message.url),
      headers: redaction.headers(message.headers).map { HAR.Pair(name: $0.name, value: $0.value) },
      queryString: items.map { item in
        guard let value = item.value else { return HAR.Pair(name: redaction.pairs(item.name), value: "") }
        // A plus is a space in the names of a query, and stands for itself here.
        let names = [item.name, item.name.replacingOccurrences(of: "+", with: " ")]
        let isSecret = names.contains { redaction.hides(parameter: $0, value: value.utf8) }
        return HAR.Pair(name: item.name, value: isSecret ? redaction.replacement : redaction.withoutUsers(value))
      },
      bodySize: message.body.length ?? -1
    )
    if let body, !body.isEmpty {
      let (text, encoding) = HAR.text(of: redaction.archived(body, type: type))
      postData = HAR.PostData(mimeType: type ?? "", text: text, encoding: encoding)
    }
  }
}

extension HAR.Response {
  /// There was no answer.
  package static let none = HAR.Response(
    status: 0,
    headers: [],
    content: HAR.Content(size: 0, mimeType: ""),
    redirectURL: "",
    bodySize: -1
  )

  package init(_ head: ResponseHead, _ body: Data, _ redaction: Redaction) {
    let type = head.headers["Content-Type"]
    let archived = redaction.archived(body, type: type)
    var headers = redaction.headers(head.headers)
    // Whoever reads the file waits for so many bytes.
    if archived.count != body.count, let length = headers["Content-Length"].flatMap({ Int($0) }) {
      let (changed, overflows) = length.addingReportingOverflow(archived.count - body.count)
      if !overflows { headers["Content-Length"] = "\(max(changed, 0))" }
    }
    let (text, encoding) = HAR.text(of: archived)
    self.init(
      status: head.status,
      httpVersion: head.httpVersion ?? "HTTP/1.1",
      headers: headers.map { HAR.Pair(name: $0.name, value: $0.value) },
      content: HAR.Content(size: Int64(archived.count), mimeType: type ?? "", text: text, encoding: encoding),
      redirectURL: headers["Location"] ?? "",
      bodySize: Int64(archived.count)
    )
  }
}

extension HAR {
  /// A body as the file has it: "base64" is the encoding of one that is no text.
  static func text(of body: Data) -> (text: String, encoding: String?) {
    guard let text = String(validating: body, as: UTF8.self) else { return (body.base64EncodedString(), "base64") }
    return (text, nil)
  }
}

extension Redaction {
  /// An address that may be relative, without user, password, the secrets of its query, and its fragment.
  ///
  /// It need not be one that can be read, and is spelt as before.
  package func archived(address text: String) -> String {
    // By bytes: to whoever reads it, a question mark with an accent on it is a question mark.
    let whole = text.utf8.prefix { $0 != UInt8(ascii: "#") }
    let question = whole.firstIndex(of: UInt8(ascii: "?")) ?? whole.endIndex
    var front = Array(whole[..<question])
    if let start = front.firstRange(of: "//".utf8)?.upperBound {
      let authority = front[start...].prefix { $0 != UInt8(ascii: "/") }
      if let end = authority.lastIndex(of: UInt8(ascii: "@")) {
        front.replaceSubrange(start..<end, with: replacement.utf8)
      }
    }
    let query = question < whole.endIndex ? "?\(pairs(String(Substring(whole[question...].dropFirst()))))" : ""
    return String(decoding: front, as: UTF8.self) + query
  }

  /// The body without secrets: members of JSON, fields of forms, and parts of multipart forms.
  ///
  /// One that is neither text nor has such members stays as it is.
  package func archived(_ body: Data, type: String?) -> Data {
    if let boundary = type.flatMap(HAR.boundary(of:)) {
      return archivedJSON(HAR.replacingParts(of: body, boundary: boundary, where: hides(parameter:), by: replacement))
    }
    if Redaction.isForm(type), let text = String(validating: body, as: UTF8.self) { return Data(pairs(text).utf8) }
    return archivedJSON(body)
  }

  private func archivedJSON(_ body: Data) -> Data {
    if let text = String(validating: body, as: UTF8.self) { return Data(self.text(text).utf8) }
    // In other encodings, and among bytes that are no text, names of members are ASCII all the same.
    let text = String(String.UnicodeScalarView(body.lazy.map { UnicodeScalar($0) }))
    let archived = self.text(text)
    guard archived != text else { return body }
    return archived.unicodeScalars.reduce(into: Data()) { data, scalar in
      if scalar.value < 0x100 { data.append(UInt8(scalar.value)) } else { data += Array(String(scalar).utf8) }
    }
  }
}

// MARK: - Multipart forms

extension HAR {
  /// The boundary that a content type names; `nil` if it is not that of a multipart body.
  package static func boundary(of type: String) -> String? {
    guard HTTPHeaders.begins(type, with: "multipart/") else { return nil }
    let boundary = FieldParameter.all(in: type).first { HTTPHeaders.equal($0.name, "boundary") }?.value
    return boundary?.isEmpty == false ? boundary : nil
  }

  /// The body with other contents in the parts of these names.
  fileprivate static func replacingParts(
    of body: Data,
    boundary: String,
    where isReplaced: (String) -> Bool,
    by replacement: String
  ) -> Data {
    let (delimiter, blankLine) = (Data("--\(boundary)".utf8), Data("\r\n\r\n".utf8))
    var next = body.range(of: delimiter)
    var result = Data(body[..<(next?.lowerBound ?? body.endIndex)])
    while let start = next?.upperBound {
      // The end of the part comes first: looked for behind each delimiter, a blank line far away takes time without bound.
      next = body[start...].range(of: delimiter)
      let part = body[start..<(next?.lowerBound ?? body.endIndex)]
      result += delimiter
      if let fields = part.range(of: blankLine),
        partNames(String(decoding: part[..<fields.lowerBound], as: UTF8.self)).contains(where: isReplaced)
      {
        result += part[..<fields.upperBound] + Data("\(replacement)\r\n".utf8)
      } else {
        result += part
      }
    }
    return result
  }

  /// What the fields of a part may be read to call it: names that are secret in one reading must not be seen.
  ///
  /// The standards escape quotes with backslashes (RFC 9110 §5.6.4). Browsers, and this package, take a backslash as it is,
  /// and write quotes and line breaks as "%22", "%0D" and "%0A" (HTML Standard, "multipart/form-data encoding algorithm").
  private static func partNames(_ fields: String) -> [String] {
    let disposition = "Content-Disposition"
    return unfolded(fields).flatMap { line -> [String] in
      let name = line.prefix { $0 != UInt8(ascii: ":") }
      guard HTTPHeaders.equal(String(decoding: trimmed(name), as: UTF8.self), disposition) else { return [] }
      let value = String(decoding: line[name.endIndex...].dropFirst(), as: UTF8.self)
      return [true, false].flatMap { hasEscapes in
        FieldParameter.all(in: value, hasEscapes: hasEscapes)
          .filter { HTTPHeaders.equal($0.name, "name") }
          .compactMap(\.value)
          .flatMap { [$0, $0.removingPercentEncoding ?? $0] }
      }
    }
  }

  /// The lines, each together with those below that begin with white space (RFC 5322 §2.2.3).
  private static func unfolded(_ fields: String) -> [ArraySlice<UInt8>] {
    fields.utf8.split { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }.reduce(into: []) { lines, line in
      if let first = line.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t"), !lines.isEmpty {
        lines[lines.count - 1] += line
      } else {
        lines.append(Array(line)[...])
      }
    }
  }
}

// MARK: - Reading

extension HAR {
  /// A body that is not what it says.
  package struct UndecodableBody: Error, CustomStringConvertible {
    package let description = "its body is not the base64 that it is said to be"
  }

  fileprivate static func data(of text: String, encoding: String?) throws(UndecodableBody) -> Data {
    guard encoding?.lowercased() == "base64" else { return Data(text.utf8) }
    guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else { throw UndecodableBody() }
    return data
  }

  /// The fields of a message, without those of HTTP/2's own (":authority").
  package static func headers(_ pairs: [Pair]?) -> HTTPHeaders {
    HTTPHeaders(
      (pairs ?? []).filter { !$0.name.hasPrefix(":") }.flatMap { pair in
        // Browsers put several Set-Cookie fields into one, a line each.
        (pair.value ?? "").split(separator: "\n", omittingEmptySubsequences: false)
          .map { HTTPHeaders.Field(pair.name, String($0)) }
      }
    )
  }
}

extension HAR.PostData {
  /// The bytes of the body.
  package func data() throws(HAR.UndecodableBody) -> Data {
    if let text { return try HAR.data(of: text, encoding: encoding) }
    return Data((params ?? []).map { "\($0.name)=\($0.value ?? "")" }.joined(separator: "&").utf8)
  }
}

extension HAR.Content {
  /// The bytes of the body; `nil` if the file does not have them.
  package func data() throws(HAR.UndecodableBody) -> Data? {
    guard let text else { return (size ?? 0) > 0 ? nil : Data() }
    return try HAR.data(of: text, encoding: encoding)
  }
}
