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
  /// Unchecked, because the lock guards all that changes, and one piece of work at a time uses the reader.
  final class CurlUpload: @unchecked Sendable {
    private enum State {
      case idle
      case reading
      case atEnd
      case failed(any Error)
    }

    private let body: TransportBody
    private let arrived: @Sendable () -> Void
    private let queue = DispatchQueue(label: "rebound.curl-upload")

    private let lock = Lock()
    private var reader: (any BodyReader)?
    private var state = State.idle
    private var piece = Data()
    private var isLibcurlWaiting = false
    /// Counted up when what is being read is no longer wanted.
    private var generation = 0

    /// How many bytes libcurl has taken since the start; read by its thread alone.
    private(set) var givenCount: Int64 = 0

    private static let pieceCount = 65_536

    /// - Parameter arrived: Called when libcurl had to wait and need not any more.
    init(_ body: TransportBody, arrived: @escaping @Sendable () -> Void) throws {
      self.body = body
      self.arrived = arrived
      try reopen()
    }

    private func reopen() throws {
      if case .data(let data) = body {
        lock.withLock { (piece, state) = (data, .atEnd) }
      } else if case .none = body {
        lock.withLock { state = .atEnd }
      } else {
        let reader = try body.open()
        lock.withLock { (self.reader, piece, state) = (reader, Data(), .idle) }
      }
    }

    /// Whether libcurl waits for a piece that is not there yet.
    var isWaiting: Bool {
      lock.withLock {
        guard case .reading = state else { return false }
        return isLibcurlWaiting && piece.isEmpty
      }
    }

    /// Why reading failed.
    var failure: (any Error)? {
      lock.withLock {
        guard case .failed(let error) = state else { return nil }
        return error
      }
    }

    /// Copies the next bytes; says in libcurl's way if there are none yet, or none at all.
    func read(into buffer: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
      let (result, mustRead) = lock.withLock { () -> (Int, Bool) in
        let copied = copyPiece(to: buffer, count)
        guard piece.isEmpty else { return (copied, false) }
        switch state {
        case .idle:
          state = .reading
          isLibcurlWaiting = copied == 0
          return (copied > 0 ? copied : Int(CURL_READFUNC_PAUSE), true)
        case .reading:
          isLibcurlWaiting = copied == 0
          return (copied > 0 ? copied : Int(CURL_READFUNC_PAUSE), false)
        case .atEnd: return (copied, false)
        case .failed: return (copied > 0 ? copied : Int(CURL_READFUNC_ABORT), false)
        }
      }
      if mustRead { readAhead() }
      return result
    }

    /// Called with the lock held.
    private func copyPiece(to buffer: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
      guard let buffer, !piece.isEmpty else { return 0 }
      let part = piece.prefix(count)
      part.copyBytes(to: UnsafeMutableRawBufferPointer(start: buffer, count: count))
      piece = piece.dropFirst(count)
      givenCount += Int64(part.count)
      return part.count
    }

    private func readAhead() {
      queue.async { [self] in
        let (reader, generation) = lock.withLock { (self.reader, self.generation) }
        guard let reader else { return }
        let result = Result { try reader.read(upTo: CurlUpload.pieceCount) }
        let wakes = lock.withLock {
          guard generation == self.generation else { return false }
          switch result {
          case .success(let data):
            state = data.isEmpty ? .atEnd : .idle
            piece = data
          case .failure(let error): state = .failed(error)
          }
          defer { isLibcurlWaiting = false }
          return isLibcurlWaiting
        }
        if wakes { arrived() }
      }
    }

    /// Starts again from the first byte, and says whether that can be done.
    func rewind() -> Bool {
      stop()
      givenCount = 0
      return (try? reopen()) != nil
    }

    /// Reads no more.
    func stop() {
      let released = lock.withLock {
        generation += 1
        let reader = self.reader
        self.reader = nil
        return reader
      }
      withExtendedLifetime(released) {}
    }
  }
#endif
