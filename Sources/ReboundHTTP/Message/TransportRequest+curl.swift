import Foundation

extension TransportRequest {
  /// The request as a command for a shell, without secrets.
  ///
  ///     print(request.curl())   // curl -X 'POST' 'https://api.example/login' -H 'Accept: text/plain' --data-raw '…'
  ///
  /// Everything is quoted for a POSIX shell. A body that is a file is named; one that is a stream is left out.
  ///
  /// - Parameter redaction: What must not be seen.
  public func curl(_ redaction: Redaction = .standard) -> String {
    var words = ["curl"]
    switch (method, body) {
    // With something to send along it is POST to curl, unless it is told another.
    case (.get, .none): break
    case (.head, _): words.append("--head")
    default: words += ["-X", quoted(method.rawValue)]
    }
    words.append(quoted(redaction.url(url)))
    for field in redaction.headers(headers) {
      // A name with a colon and nothing behind it is the wish to leave the field out.
      words += ["-H", quoted(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")]
    }
    // What says nothing of itself is a form to curl, unless the field is left out.
    let unsaid = headers.contains(name: "Content-Type") ? [] : ["-H", quoted("Content-Type:")]
    switch body {
    case .none:
      break
    case .data(let data):
      words += unsaid + ["--data-raw", quoted(redaction.body(data, type: headers["Content-Type"]))]
    case .file(let file):
      words += unsaid + ["--data-binary", quoted("@\(file.lastPathComponent)")]
    case .stream(let stream):
      words.append("# and a stream of \(stream.length.map(String.init) ?? "unknown many") bytes")
    }
    return words.joined(separator: " ")
  }

  private func quoted(_ text: String) -> String {
    "'\(text.replacing([UInt8(ascii: "'"): #"'\''"#]))'"
  }
}

extension Redaction {
  /// Whether a content type is that of a form whose fields are pairs.
  static func isForm(_ type: String?) -> Bool {
    type.map { HTTPHeaders.begins($0, with: "application/x-www-form-urlencoded") } ?? false
  }

  /// A body as text, without its secrets; one that is no text is named by its size.
  func body(_ data: Data, type: String?) -> String {
    guard String(validating: data, as: UTF8.self) != nil else { return "<\(data.count) bytes>" }
    return String(decoding: archived(data, type: type), as: UTF8.self)
  }
}
