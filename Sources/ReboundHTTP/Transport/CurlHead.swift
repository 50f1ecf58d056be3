#if Curl
  import Foundation

  /// Puts the head of an answer together from the lines in which libcurl hands it over.
  struct CurlHead {
    private var version: String?
    private var status = 0
    private var fields: [HTTPHeaders.Field] = []
    /// The last field, which may go on in the next line.
    ///
    /// It grows in its place: to make it anew for each of many lines would take ever longer.
    private var last: (name: String, value: String)?
    private var isTold = false

    /// Whether the server speaks another protocol from here on.
    var changesProtocol: Bool { status == 101 }

    /// Takes a line with its end; returns the head once it is complete, and only once.
    ///
    /// Informational answers are passed over, and so is what comes behind the body.
    mutating func take(_ line: UnsafeRawBufferPointer, from url: URL) -> ResponseHead? {
      guard !isTold else { return nil }
      var text = line[...]
      while let last = text.last, last == 0x0A || last == 0x0D { text = text.dropLast() }
      if text.isEmpty {
        guard status >= 200 else { return nil }
        endField()
        isTold = true
        return ResponseHead(status: status, headers: HTTPHeaders(fields), url: url, httpVersion: version)
      }
      if text.starts(with: "HTTP/".utf8) {
        let words = text.split(separator: 0x20)
        version = words.first.map { String(decoding: $0, as: UTF8.self) }
        status = words.dropFirst().first.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
        (fields, last) = ([], nil)
      } else {
        add(text)
      }
      return nil
    }

    private mutating func add(_ text: Slice<UnsafeRawBufferPointer>) {
      if text.first == 0x20 || text.first == 0x09, last != nil {
        // A folded line (RFC 9112 §5.2) goes on with the value above.
        last?.value += " "
        last?.value += CurlHead.trimmed(text)
      } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
        endField()
        last = (String(decoding: text[..<colon], as: UTF8.self), CurlHead.trimmed(text[(colon + 1)...]))
      }
    }

    private mutating func endField() {
      if let last { fields.append(HTTPHeaders.Field(last.name, last.value)) }
      last = nil
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
      let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
      var rest = bytes.drop(while: isSpace)
      while let last = rest.last, isSpace(last) { rest = rest.dropLast() }
      return String(decoding: rest, as: UTF8.self)
    }
  }
#endif
