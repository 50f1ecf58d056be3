extension String {
  /// The text with others in the place of some of its bytes.
  ///
  /// What is quoted for other programs is made of bytes. A search for characters would pass over a quote that has an accent
  /// on it, which is a quote to all of them.
  ///
  /// - Parameter replacements: By the bytes of ASCII that they stand for.
  func replacing(_ replacements: [UInt8: String]) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    for byte in utf8 {
      if let replacement = replacements[byte] { bytes += replacement.utf8 } else { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
