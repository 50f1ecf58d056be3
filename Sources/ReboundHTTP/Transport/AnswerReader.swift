import Foundation
import StreamSupport

/// An answer that a task reads piece by piece, and lets the network wait meanwhile.
///
/// The request is cancelled when nobody can read the answer any more, and when a task is that waits for it. One task at a
/// time may read.
package final class AnswerReader: Sendable {
  private enum Piece {
    case head(ResponseHead)
    case chunk(Data)
  }

  /// What the transport tells keeps this, and not the reader, so that the reader goes when nobody reads.
  private final class Buffer: Sendable {
    private struct State: Drained {
      var pieces: ArraySlice<Piece> = []
      var byteCount = 0
      var end: Result<Void, any Error>?
      var waiter: CheckedContinuation<Void, Never>?
      var exchange: (any TransportExchange)?
      /// What the exchange was told last, and who tells it.
      var isPaused = false
      var loop = DrainLoop()

      mutating func takeNext() -> (exchange: any TransportExchange, isPaused: Bool)? {
        let mustPause = byteCount >= Buffer.readAhead
        guard let exchange, mustPause != isPaused else { return nil }
        isPaused = mustPause
        return (exchange, isPaused)
      }
    }

    /// From how many bytes on that nobody has read the network waits.
    private static let readAhead = 256 << 10
    private let state = Locked(State())

    func begin(_ exchange: any TransportExchange) {
      let isOver = state.withLock { state in
        if state.end == nil { state.exchange = exchange }
        return state.end != nil
      }
      if isOver { exchange.cancel() } else { keepPace() }
    }

    func receive(_ event: TransportEvent) {
      switch event {
      case .sent: break
      case .head(let head): add(.head(head))
      case .chunk(let chunk): add(.chunk(chunk))
      case .finished: _ = end(.success(()))
      case .failed(let failure): _ = end(.failure(failure))
      }
    }

    func cancel() {
      end(.failure(CancellationError()))?.cancel()
    }

    func next() async throws -> Piece? {
      while true {
        let (piece, end) = state.withLock { state in
          let piece = state.pieces.popFirst()
          if case .chunk(let chunk) = piece { state.byteCount -= chunk.count }
          return (piece, state.end)
        }
        if let piece {
          keepPace()
          return piece
        }
        if let end {
          try end.get()
          return nil
        }
        await untilChanged()
      }
    }

    private func untilChanged() async {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let hasChanged = state.withLock { state in
            if state.pieces.isEmpty, state.end == nil { state.waiter = continuation }
            return state.waiter == nil
          }
          if hasChanged { continuation.resume() }
        }
      } onCancel: {
        cancel()
      }
    }

    private func add(_ piece: Piece) {
      let waiter = state.withLock { state in
        if state.end == nil { state.pieces.append(piece) }
        if case .chunk(let chunk) = piece { state.byteCount += chunk.count }
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume()
      keepPace()
    }

    private func end(_ result: Result<Void, any Error>) -> (any TransportExchange)? {
      let (waiter, exchange) = state.withLock { state in
        guard state.end == nil else {
          return (nil as CheckedContinuation<Void, Never>?, nil as (any TransportExchange)?)
        }
        state.end = result
        defer { (state.waiter, state.exchange) = (nil, nil) }
        return (state.waiter, state.exchange)
      }
      waiter?.resume()
      return exchange
    }

    /// Pauses or resumes the exchange; one thread at a time, since a pause that its resume overtakes would last.
    private func keepPace() {
      state.drain { if $0.isPaused { $0.exchange.pause() } else { $0.exchange.resume() } }
    }
  }

  private let buffer = Buffer()

  /// Begins to send a request.
  package init(_ request: TransportRequest, over transport: any Transport) {
    buffer.begin(transport.start(request) { [buffer] in buffer.receive($0) })
  }

  deinit {
    buffer.cancel()
  }

  /// The head; called once, and before the body is read.
  ///
  /// - Throws: `TransportFailure`; `CancellationError` if the task was cancelled.
  package func head() async throws -> ResponseHead {
    guard case .head(let head) = try await buffer.next() else { throw TransportFailure(.truncated) }
    return head
  }

  /// The next part of the body; `nil` at the end.
  ///
  /// - Throws: `TransportFailure`; `CancellationError` if the task was cancelled.
  package func next() async throws -> Data? {
    guard case .chunk(let chunk) = try await buffer.next() else { return nil }
    return chunk
  }
}
