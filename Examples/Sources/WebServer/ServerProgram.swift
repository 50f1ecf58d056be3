// Dispatch sources are safe to use from any thread, but not yet declared Sendable on Linux.
@preconcurrency import Dispatch
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What the programs around a server have in common: they announce themselves, run until they are told to stop, and
/// complain in one line.
package enum ServerProgram {
  /// Says that the server is ready, and returns when SIGINT or SIGTERM comes.
  package static func run(announcing message: String) async {
    let signals = stopSignals()
    print(message)
    // Whoever starts this program through a pipe waits for that line. All streams, because `stdout` isn't safe to name.
    fflush(nil)
    for await _ in signals { break }
  }

  /// Writes one line to the standard error, with the program's name in front.
  package static func complain(_ message: String, program: String) {
    FileHandle.standardError.write(Data("\(program): \(message)\n".utf8))
  }

  /// The signals that ask the program to stop.
  private static func stopSignals() -> AsyncStream<Int32> {
    AsyncStream { continuation in
      let sources = [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number)
        source.setEventHandler { continuation.yield(number) }
        source.resume()
        return source
      }
      continuation.onTermination = { _ in sources.forEach { $0.cancel() } }
    }
  }
}
