#if Curl
  import Foundation

  /// An address as libcurl is told it.
  struct CurlAddress {
    let text: String
    /// How many bytes come before the path.
    ///
    /// `nil` if there is no path, or more than libcurl can be told in two parts: a name and a password, or a fragment, which is
    /// not sent.
    let originCount: Int?

    init(_ address: Address) {
      text = address.text
      // By its bytes in memory: an iterator of a text decides anew at each byte how the text is kept.
      originCount = text.utf8.withContiguousStorageIfAvailable(CurlAddress.originCount) ?? nil
    }

    /// What comes before the path.
    var origin: String? {
      originCount.map { String(decoding: text.utf8.prefix($0), as: UTF8.self) }
    }

    /// Whether that is what comes before the path, letter by letter.
    func hasOrigin(_ origin: String) -> Bool {
      guard originCount == origin.utf8.count else { return false }
      let isSame = text.utf8.withContiguousStorageIfAvailable { text in
        origin.utf8.withContiguousStorageIfAvailable { $0.elementsEqual(text[..<$0.count]) }
      }
      return (isSame ?? nil) ?? false
    }

    private static func originCount(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
      guard let start = Authority.start(in: bytes),
        let end = bytes[start...].firstIndex(where: isEndOfHost), bytes[end] == UInt8(ascii: "/"),
        !bytes[end...].contains(UInt8(ascii: "#"))
      else { return nil }
      return end
    }

    private static func isEndOfHost(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"): true
      default: false
      }
    }
  }
#endif
