import Expectations
import Foundation
import ReboundHTTPTesting
import Testing

@testable import ReboundHTTP

@Suite("BodyPieces")
struct BodyPiecesTests {
  private struct Unreadable: Error {}

  private func read(_ body: TransportBody) async throws -> [Int] {
    let pieces = try BodyPieces(body)
    var sizes: [Int] = []
    while let piece = try await pieces.next() {
      sizes.append(piece.count)
      expectEqual(pieces.count, Int64(sizes.reduce(0, +)))
    }
    return sizes
  }

  @Test("gives a body in pieces of 64 KiB at most, and counts what it gave")
  func pieces() async throws {
    try await expectEqual(read(.data(Data(count: 150_000))), [65_536, 65_536, 18_928])
    try await expectEqual(read(.stream(BodyStream { PiecewiseReader(count: 10, piece: 4) })), [4, 4, 2])
    try await expectEqual(read(.none), [])
    let once = ValueLog<Void>()
    let large = BodyStream.once { _ in
      defer { once.append(()) }
      return Data(count: once.values.isEmpty ? 150_000 : 0)
    }
    try await expectEqual(read(.stream(large)), [65_536, 65_536, 18_928], "More was given at once than asked for.")
  }

  @Test("throws what the reader throws, behind what it gave before")
  func failure() async throws {
    let isRead = ValueLog<Void>()
    let stream = BodyStream.once { _ in
      guard isRead.values.isEmpty else { throw Unreadable() }
      isRead.append(())
      return Data(count: 3)
    }
    let pieces = try BodyPieces(.stream(stream))
    try await expectEqual(pieces.next(), Data(count: 3))
    await #expect(throws: Unreadable.self) { try await pieces.next() }
    expectEqual(pieces.count, 3)
  }

  @Test("cannot be made of a file that is not there, nor of a stream that was read")
  func unreadable() throws {
    #expect(throws: (any Error).self) { try BodyPieces(.file(URL(filePath: "/nowhere/at/all"))) }
    let once = TransportBody.stream(.once { _ in Data() })
    _ = try BodyPieces(once)
    #expect(throws: BodyStream.AlreadyRead.self) { try BodyPieces(once) }
  }
}
