import Dispatch
import Foundation
import StreamSupport

/// A request's body, piece by piece, for a transport that asks for it from a task.
///
///     let body = request.body.measured
///     let pieces = try BodyPieces(body)
///     try await connection.announce(body.length)
///     while let piece = try await pieces.next() {
///       try await connection.send(piece)
///       exchange.sent(pieces.count)
///     }
///
/// Reading a file or a stream may block, and a task must not; so a queue reads, nothing ahead of what is asked for. One task
/// at a time may ask.
public final class BodyPieces: Sendable {
  private struct State {
    let reader: any BodyReader
    var count: Int64 = 0
  }

  private static let pieceCount = 65_536
  private let state: Locked<State>
  private let queue = DispatchQueue(label: "rebound.body-pieces")

  /// Opens a body, which may block as opening a file does.
  ///
  /// - Parameter body: What is to be sent: a ``TransportBody/measured`` one, if its length is told.
  /// - Throws: What ``TransportBody/open()`` does; to a transport, a ``TransportFailure/Kind-swift.enum/body``.
  public init(_ body: TransportBody) throws {
    state = Locked(State(reader: try body.open()))
  }

  /// How many bytes were given so far.
  public var count: Int64 { state.withLock { $0.count } }

  /// The next bytes, at least one and 64 KiB at most; `nil` at the end.
  ///
  /// Called once at a time, and not again after the end or an error. A cancel of the task does not cut it short: what is
  /// being read is read.
  ///
  /// - Throws: What the reader throws; to a transport, a ``TransportFailure/Kind-swift.enum/body``.
  public func next() async throws -> Data? {
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
