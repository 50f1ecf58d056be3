import Foundation

/// Holds a reader to what was promised of it: pieces no larger than asked for, and as many bytes as were announced.
///
/// A byte too many would be the beginning of another request to the server, and for one too few it would take one of the next
/// request's (RFC 9112 §6.3). The last piece is given once it is known that nothing is behind it: a server that has got all
/// that was announced has got the whole body.
final class LengthCheckedReader: BodyReader {
  private let reader: any BodyReader
  private let length: Int64?
  private var readCount: Int64 = 0
  private var isAtEnd = false
  /// What the reader gave beyond what it was asked for.
  private var rest = Data()

  init(_ reader: any BodyReader, length: Int64?) {
    self.reader = reader
    self.length = length
  }

  func read(upTo count: Int) throws -> Data {
    if rest.isEmpty { rest = try next(count) }
    let piece = rest.prefix(count)
    rest = rest.dropFirst(count)
    return piece
  }

  private func next(_ count: Int) throws -> Data {
    guard let length else { return try reader.read(upTo: count) }
    guard !isAtEnd else { return Data() }
    var piece = Data()
    if readCount < length {
      piece = try reader.read(upTo: Int(min(Int64(count), length - readCount)))
      guard !piece.isEmpty else { throw BodyLengthMismatch.short(readCount, of: length) }
      readCount += Int64(piece.count)
      if readCount < length { return piece }
    }
    guard readCount == length, try reader.read(upTo: 1).isEmpty else { throw BodyLengthMismatch.long(length) }
    isAtEnd = true
    return piece
  }
}

/// A request's body has another length than was announced.
enum BodyLengthMismatch: Error, Hashable, CustomStringConvertible {
  /// It ended after so many bytes of those that were announced.
  case short(Int64, of: Int64)
  /// It went on behind the bytes that were announced.
  case long(Int64)

  var description: String {
    switch self {
    case .short(let count, let length):
      """
      The request's body ended after \(count) of \(length) bytes. Take nothing from a file while it is sent, and give a \
      stream the length that it has, or none.
      """
    case .long(let length):
      """
      The request's body goes on behind its \(length) bytes. Add nothing to a file while it is sent, and give a stream the \
      length that it has, or none.
      """
    }
  }
}
