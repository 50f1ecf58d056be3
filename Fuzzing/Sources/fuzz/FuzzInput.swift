/// The bytes of one input, taken apart from the front: first what steers a target, then what its parser reads.
struct FuzzInput {
  private var bytes: ArraySlice<UInt8>
  /// How long what the parser reads is made by repeating a part of it; zero to leave it as it is.
  private let length: Int

  init(_ bytes: [UInt8], pumpedTo length: Int = 0) {
    self.bytes = bytes[...]
    self.length = length
  }

  var isEmpty: Bool { bytes.isEmpty }

  /// The next byte; zero behind the end.
  mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

  mutating func bool() -> Bool { byte() & 1 == 1 }

  mutating func number(below limit: Int) -> Int { Int(byte()) % limit }

  /// A number of any size, the small and the very large ones more often than others.
  mutating func integer() -> Int64 {
    switch byte() {
    case 0...99: return Int64(byte())
    case 100...119: return .max - Int64(byte())
    case 120...139: return .min + Int64(byte())
    case 140...159: return -Int64(byte())
    default: return (0..<8).reduce(0) { sum, _ in sum << 8 | Int64(byte()) }
    }
  }

  /// So many bytes as a byte says, as text.
  mutating func shortText() -> String {
    let count = Int(byte() & 0x1F)
    defer { bytes = bytes.dropFirst(count) }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// All that is left.
  mutating func rest() -> [UInt8] {
    defer { bytes = [] }
    return length == 0 || bytes.count < 3 ? Array(bytes) : pumped()
  }

  /// All that is left, as text.
  mutating func text() -> String { String(decoding: rest(), as: UTF8.self) }

  /// A part of what is left over and over, so that a parser whose time grows faster than its input runs out of time.
  private mutating func pumped() -> [UInt8] {
    let (first, second) = (Int(byte()), Int(byte()))
    let all = Array(bytes)
    let cuts = [first % all.count, second % (all.count + 1)].sorted()
    let part = all[cuts[0]..<max(cuts[1], cuts[0] + 1)]
    var result = Array(all[..<part.startIndex])
    while result.count + part.count <= length { result += part }
    return result + all[part.endIndex...]
  }
}
