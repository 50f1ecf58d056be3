import Dispatch
import Foundation
import StreamSupport

/// A request's body for a carrier that asks for it from a task.
///
/// Reading a file or a stream may block, and a task must not; so a queue reads. One task at a time may ask.
package final class BodyPieces: Sendable {
  private struct State {
    let reader: any BodyReader
    var count: Int64 = 0
  }

  private static let pieceCount = 65_536
  private let state: Locked<State>
  private let queue = DispatchQueue(label: "rebound.body-pieces")

  /// Opens a body.
  ///
  /// - Throws: What ``TransportBody/open()`` does.
  package init(_ body: TransportBody) throws {
    state = Locked(State(reader: try body.open()))
  }

  /// How many bytes were given so far.
  package var count: Int64 { state.withLock { $0.count } }

  /// The next bytes, 64 KiB at most; `nil` at the end.
  ///
  /// - Throws: What the reader throws.
  package func next() async throws -> Data? {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [self] in continuation.resume(with: Result { try read() }) }
    }
  }

  private func read() throws -> Data? {
    let reader = state.withLock { $0.reader }
    let piece = try reader.read(upTo: BodyPieces.pieceCount)
    state.withLock { $0.count += Int64(piece.count) }
    return piece.isEmpty ? nil : piece
  }
}
