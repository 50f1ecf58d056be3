import Foundation

/// A few files in one, as `tar` unpacks them.
///
/// Source: POSIX.1-2024, "pax", ustar interchange format.
struct TarArchive {
  private static let blockLength = 512

  /// The bytes of the archive.
  let data: Data

  /// Puts files together.
  ///
  /// - Parameter files: Names of at most 100 bytes, without folders, and what is in them. A longer name is cut off in front.
  init(_ files: [(name: String, content: Data)]) {
    var data = Data()
    for (name, content) in files {
      data += Self.header(name, length: content.count) + content
      data += Data(count: (Self.blockLength - content.count % Self.blockLength) % Self.blockLength)
    }
    self.data = data + Data(count: 2 * Self.blockLength)
  }

  private static func header(_ name: String, length: Int) -> Data {
    var header = [UInt8](repeating: 0, count: blockLength)
    func put(_ text: some Sequence<UInt8>, at offset: Int) {
      for (index, byte) in text.enumerated() { header[offset + index] = byte }
    }
    func put(_ number: Int, digits: Int, at offset: Int) {
      let text = String(number, radix: 8)
      put((String(repeating: "0", count: max(digits - text.count, 0)) + text).utf8, at: offset)
    }
    put(name.utf8.suffix(100), at: 0)
    put(0o644, digits: 7, at: 100)
    put(0, digits: 7, at: 108)
    put(0, digits: 7, at: 116)
    put(length, digits: 11, at: 124)
    put(0, digits: 11, at: 136)
    put("0".utf8, at: 156)
    put("ustar\u{0}00".utf8, at: 257)
    // The sum is taken with spaces in its own place.
    put(String(repeating: " ", count: 8).utf8, at: 148)
    put(header.reduce(0) { $0 + Int($1) }, digits: 6, at: 148)
    put([0, UInt8(ascii: " ")], at: 154)
    return Data(header)
  }
}
