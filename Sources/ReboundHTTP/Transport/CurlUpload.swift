#if Curl
  import CCurl
  import Dispatch
  import Foundation
  import StreamSupport

  /// Gives a request's body to libcurl.
  ///
  /// Reading a file or a stream may block, and libcurl's thread must not; so a queue reads one piece ahead, and libcurl
  /// waits when the piece is not there yet.
  ///
  /// One piece of work at a time uses the reader.
  final class CurlUpload: Sendable {
    private enum Phase {
      case idle
      case reading
      case atEnd
      case failed(any Error)
    }

    private struct State {
      var reader: (any BodyReader)?
      var phase = Phase.idle
      var piece = Data()
      var isLibcurlWaiting = false
      /// Counted up when what is being read is no longer wanted.
      var generation = 0
      /// How many bytes libcurl has taken since the start.
      var givenCount: Int64 = 0

      mutating func copyPiece(to buffer: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let buffer, !piece.isEmpty else { return 0 }
        let part = piece.prefix(count)
        part.copyBytes(to: UnsafeMutableRawBufferPointer(start: buffer, count: count))
        piece = piece.dropFirst(count)
        givenCount += Int64(part.count)
        return part.count
      }
    }

    private let body: TransportBody
    private let arrived: @Sendable () -> Void
    private let queue = DispatchQueue(label: "rebound.curl-upload")

    private let state = Locked(State())

    /// How many bytes libcurl has taken since the start.
    var givenCount: Int64 { state.withLock { $0.givenCount } }

    private static let pieceCount = 65_536

    /// - Parameter arrived: Called when libcurl had to wait and need not any more.
    init(_ body: TransportBody, arrived: @escaping @Sendable () -> Void) throws {
      self.body = body
      self.arrived = arrived
      try reopen()
    }

    private func reopen() throws {
      if case .data(let data) = body {
        state.withLock { ($0.piece, $0.phase) = (data, .atEnd) }
      } else if case .none = body {
        state.withLock { $0.phase = .atEnd }
      } else {
        let reader = try body.open()
        state.withLock { ($0.reader, $0.piece, $0.phase) = (reader, Data(), .idle) }
      }
    }

    /// Whether libcurl waits for a piece that is not there yet.
    var isWaiting: Bool {
      state.withLock { state in
        guard case .reading = state.phase else { return false }
        return state.isLibcurlWaiting && state.piece.isEmpty
      }
    }

    /// Why reading failed.
    var failure: (any Error)? {
      state.withLock { state in
        guard case .failed(let error) = state.phase else { return nil }
        return error
      }
    }

    /// Copies the next bytes; says in libcurl's way if there are none yet, or none at all.
    func read(into buffer: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
      let (result, mustRead) = state.withLock { state -> (Int, Bool) in
        let copied = state.copyPiece(to: buffer, count)
        guard state.piece.isEmpty else { return (copied, false) }
        switch state.phase {
        case .idle:
          state.phase = .reading
          state.isLibcurlWaiting = copied == 0
          return (copied > 0 ? copied : Int(CURL_READFUNC_PAUSE), true)
        case .reading:
          state.isLibcurlWaiting = copied == 0
          return (copied > 0 ? copied : Int(CURL_READFUNC_PAUSE), false)
        case .atEnd: return (copied, false)
        case .failed: return (copied > 0 ? copied : Int(CURL_READFUNC_ABORT), false)
        }
      }
      if mustRead { readAhead() }
      return result
    }

    private func readAhead() {
      queue.async { [self] in
        let (reader, generation) = state.withLock { ($0.reader, $0.generation) }
        guard let reader else { return }
        let result = Result { try reader.read(upTo: CurlUpload.pieceCount) }
        let wakes = state.withLock { state in
          guard generation == state.generation else { return false }
          switch result {
          case .success(let data):
            state.phase = data.isEmpty ? .atEnd : .idle
            state.piece = data
          case .failure(let error): state.phase = .failed(error)
          }
          defer { state.isLibcurlWaiting = false }
          return state.isLibcurlWaiting
        }
        if wakes { arrived() }
      }
    }

    /// Starts again from the first byte, and says whether that can be done.
    func rewind() -> Bool {
      stop()
      state.withLock { $0.givenCount = 0 }
      return (try? reopen()) != nil
    }

    /// Reads no more.
    func stop() {
      let released = state.withLock { state in
        state.generation += 1
        let reader = state.reader
        state.reader = nil
        return reader
      }
      withExtendedLifetime(released) {}
    }
  }
#endif
