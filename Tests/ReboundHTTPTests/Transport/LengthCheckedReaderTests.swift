import Expectations
import Foundation
import ReboundHTTPTesting
import StreamSupport
import Testing

@testable import ReboundHTTP

@Suite("What holds readers to their word")
struct LengthCheckedReaderTests {
  /// Gives pieces of these sizes, whatever it is asked for, and notes that.
  private final class Stubborn: Sendable {
    private let sizes: Locked<ArraySlice<Int>>
    private let asked = ValueLog<Int>()

    init(_ sizes: Int...) {
      self.sizes = Locked(sizes[...])
    }

    var askedCounts: [Int] { asked.values }

    func stream(length: Int64? = nil) -> BodyStream {
      BodyStream.once(length: length) { count in
        self.asked.append(count)
        return Data(count: self.sizes.withLock { $0.popFirst() } ?? 0)
      }
    }
  }

  /// The sizes of the pieces up to the end, which is not among them.
  private func read(_ reader: any BodyReader, upTo count: Int, _ sizes: inout [Int]) throws {
    while case let piece = try reader.read(upTo: count), !piece.isEmpty { sizes.append(piece.count) }
  }

  @Test("a piece that is larger than asked for is given in parts")
  func largePieces() throws {
    let reader = try Stubborn(10, 3).stream().open()
    var sizes: [Int] = []
    try read(reader, upTo: 4, &sizes)
    expectEqual(sizes, [4, 4, 2, 3])
  }

  @Test("parts are what was read, in its order")
  func content() throws {
    let reader = try BodyStream.once { _ in Data("content".utf8) }.open()
    for part in ["cont", "ent", "cont"] { try expectEqual(reader.read(upTo: 4), Data(part.utf8)) }
  }

  @Test("a body that ends before its length fails, in place of ending")
  func short() throws {
    let reader = try BodyStream(length: 50) { PiecewiseReader(count: 5, piece: 3) }.open()
    var sizes: [Int] = []
    #expect(throws: BodyLengthMismatch.short(5, of: 50)) { try read(reader, upTo: 64, &sizes) }
    expectEqual(sizes, [3, 2])
  }

  @Test("a body that goes on behind its length fails before its last piece", arguments: [2, 64])
  func long(count: Int) throws {
    let reader = try BodyStream(length: 5) { PiecewiseReader(count: 6, piece: 6) }.open()
    var sizes: [Int] = []
    #expect(throws: BodyLengthMismatch.long(5)) { try read(reader, upTo: count, &sizes) }
    expectEqual(sizes, count == 2 ? [2, 2] : [])
  }

  @Test("a body whose pieces are larger than asked for is measured all the same")
  func longPiece() throws {
    let reader = try Stubborn(8).stream(length: 5).open()
    var sizes: [Int] = []
    #expect(throws: BodyLengthMismatch.long(5)) { try read(reader, upTo: 3, &sizes) }
    expectEqual(sizes, [])
  }

  @Test("a body of its length ends there, and is not asked again")
  func exact() throws {
    let source = Stubborn(3, 2)
    let reader = try source.stream(length: 5).open()
    var sizes: [Int] = []
    for _ in 0..<3 { try read(reader, upTo: 4, &sizes) }
    expectEqual(sizes, [3, 2])
    expectEqual(source.askedCounts, [4, 2, 1])
    let empty = Stubborn()
    try read(try empty.stream(length: 0).open(), upTo: 4, &sizes)
    #expect(sizes == [3, 2] && empty.askedCounts == [1])
  }

  @Test("says what was announced, what came, and what to do")
  func descriptions() {
    let short = """
      The request's body ended after 5 of 50 bytes. Take nothing from a file while it is sent, and give a stream the length \
      that it has, or none.
      """
    expectEqual("\(BodyLengthMismatch.short(5, of: 50))", short)
    let long = """
      The request's body goes on behind its 5 bytes. Add nothing to a file while it is sent, and give a stream the length \
      that it has, or none.
      """
    expectEqual("\(BodyLengthMismatch.long(5))", long)
  }
}
