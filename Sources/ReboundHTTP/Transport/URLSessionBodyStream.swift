import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Gives a request's body to URLSession, which wants a stream of Foundation's.
enum BodyInputStream {
  /// Opens a body for reading from its start.
  ///
  /// - Parameter failed: Told if reading fails later on, which URLSession does not pass on as such.
  static func open(_ body: TransportBody, failed: @escaping @Sendable (any Error) -> Void) throws -> InputStream {
    #if canImport(Darwin)
      // Apple's URLSession takes only streams of its own making, so the bytes go through a pair of those.
      try StreamPump.pump(try body.open(), failed)
    #else
      ReaderInputStream(try body.open(), failed)
    #endif
  }
}

#if !canImport(Darwin)
  /// Reads from a body when URLSession asks.
  private final class ReaderInputStream: InputStream {
    private let reader: any BodyReader
    private let failed: @Sendable (any Error) -> Void
    private var state = Status.notOpen
    private var failure: (any Error)?

    init(_ reader: any BodyReader, _ failed: @escaping @Sendable (any Error) -> Void) {
      self.reader = reader
      self.failed = failed
      super.init(data: Data())
    }

    override var streamStatus: Status { state }
    override var streamError: (any Error)? { failure }
    override var hasBytesAvailable: Bool { state == .open }

    override func open() {
      if state == .notOpen { state = .open }
    }

    override func close() {
      state = .closed
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
      guard state == .open else { return state == .error ? -1 : 0 }
      do {
        let piece = try reader.read(upTo: count)
        piece.copyBytes(to: buffer, count: piece.count)
        if piece.isEmpty { state = .atEnd }
        return piece.count
      } catch {
        failure = error
        state = .error
        failed(error)
        return -1
      }
    }
  }
#else
  /// Writes a body into one end of a pair of streams while URLSession reads the other.
  ///
  /// Unchecked, because only the thread that pumps uses it.
  private final class StreamPump: @unchecked Sendable {
    private let reader: any BodyReader
    private let output: OutputStream
    private let failed: @Sendable (any Error) -> Void

    private init(_ reader: any BodyReader, _ output: OutputStream, _ failed: @escaping @Sendable (any Error) -> Void) {
      self.reader = reader
      self.output = output
      self.failed = failed
    }

    static func pump(
      _ reader: any BodyReader,
      _ failed: @escaping @Sendable (any Error) -> Void
    ) throws -> InputStream {
      var input: InputStream?
      var output: OutputStream?
      Stream.getBoundStreams(withBufferSize: 65_536, inputStream: &input, outputStream: &output)
      guard let input, let output else { throw URLError(.cannotOpenFile) }
      let pump = StreamPump(reader, output, failed)
      Thread.detachNewThread { pump.run() }
      return input
    }

    private func run() {
      output.open()
      defer { output.close() }
      while true {
        var rest: Data
        do { rest = try reader.read(upTo: 65_536) } catch { return failed(error) }
        if rest.isEmpty { return }
        while !rest.isEmpty {
          // Blocks until URLSession has read; it fails when URLSession has closed its end.
          let count = rest.withUnsafeBytes { buffer in
            buffer.bindMemory(to: UInt8.self).baseAddress.map { output.write($0, maxLength: rest.count) } ?? 0
          }
          guard count > 0 else { return }
          rest = rest.dropFirst(count)
        }
      }
    }
  }
#endif
