/// Finds the end of a request's body (RFC 9112 §6), and what of its bytes is data, however they are cut.
struct BodyScanner {
  private let isChunked: Bool
  /// How many bytes of data there are still, in the chunk or in all.
  private var left = 0
  /// What there is of a line about chunks, or behind them.
  private var line: [UInt8] = []
  private var isBehindChunks = false
  private(set) var isOver = false

  init(_ head: ReceivedRequest) {
    isChunked = head[field: "Transfer-Encoding"]?.lowercased() == "chunked"
    guard !isChunked else { return }
    left = max(head[field: "Content-Length"].flatMap { Int($0) } ?? 0, 0)
    isOver = left == 0
  }

  /// Takes bytes up to the end of the body, and returns those that are data.
  mutating func take(_ bytes: inout ArraySlice<UInt8>) -> [UInt8] {
    var data: [UInt8] = []
    while !isOver, let byte = bytes.first {
      guard left == 0 else {
        let part = bytes.prefix(left)
        data += part
        bytes = bytes.dropFirst(part.count)
        left -= part.count
        if left == 0, !isChunked { isOver = true }
        continue
      }
      bytes = bytes.dropFirst()
      if byte == 10 { endLine() } else if byte != 13 { line.append(byte) }
    }
    return data
  }

  private mutating func endLine() {
    let text = String(decoding: line, as: UTF8.self)
    line = []
    if isBehindChunks {
      isOver = text.isEmpty
    } else if !text.isEmpty {
      // An empty one ends a chunk; of what is behind one without a size, nobody knows what it is.
      let size = Int(text.prefix { $0.isHexDigit }, radix: 16)
      (left, isBehindChunks, isOver) = (size ?? 0, size == 0, size == nil)
    }
  }
}
