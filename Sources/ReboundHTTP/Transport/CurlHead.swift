#if Curl
  import Foundation

  /// Puts the head of an answer together from the lines in which libcurl hands it over.
  struct CurlHead {
    private static let usualFieldCount = 16

    private var version: String?
    private var status = 0
    private var fields: [HTTPHeaders.Field] = []
    /// The last field, which may go on in the next line; `nil` before the first.
    private var lastName: String?
    /// It grows in its place: to make it anew for each of many lines would take ever longer.
    private var lastValue = ""
    /// Whether the head has been returned.
    private(set) var isTold = false

    /// Whether the server speaks another protocol from here on.
    var changesProtocol: Bool { status == 101 }

    /// Takes a line with its end; returns the head once it is complete, and only once.
    ///
    /// Informational answers are passed over, and so is what comes behind the body.
    mutating func take(_ line: UnsafeRawBufferPointer, from url: URL) -> ResponseHead? {
      guard !isTold else { return nil }
      var count = line.count
      while count > 0, line[count - 1] == 0x0A || line[count - 1] == 0x0D { count -= 1 }
      let text = UnsafeRawBufferPointer(rebasing: line[..<count])
      guard let first = text.first else {
        guard status >= 200 else { return nil }
        endField()
        isTold = true
        return ResponseHead(status: status, headers: HTTPHeaders(fields), url: url, httpVersion: version)
      }
      if first == UInt8(ascii: "H"), text.starts(with: "HTTP/".utf8) {
        let isInWord = { (byte: UInt8) in byte != 0x20 }
        let word = text.prefix(while: isInWord)
        let next = text[word.endIndex...].drop { !isInWord($0) }.prefix(while: isInWord)
        version = String(decoding: word, as: UTF8.self)
        status = Int(String(decoding: next, as: UTF8.self)) ?? 0
        fields = []
        fields.reserveCapacity(CurlHead.usualFieldCount)
        lastName = nil
      } else if CurlHead.isSpace(first), lastName != nil {
        // A folded line (RFC 9112 §5.2) goes on with the value above.
        lastValue += " "
        lastValue += CurlHead.trimmed(text)
      } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
        endField()
        lastName = String(decoding: UnsafeRawBufferPointer(rebasing: text[..<colon]), as: UTF8.self)
        lastValue = CurlHead.trimmed(UnsafeRawBufferPointer(rebasing: text[(colon + 1)...]))
      }
      return nil
    }

    private mutating func endField() {
      if let lastName { fields.append(HTTPHeaders.Field(lastName, lastValue)) }
      lastName = nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> String {
      var (start, end) = (0, bytes.count)
      while start < end, isSpace(bytes[start]) { start += 1 }
      while start < end, isSpace(bytes[end - 1]) { end -= 1 }
      return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
    }
  }
#endif
