import Backend
// Dispatch sources are safe to use from any thread, but not yet declared Sendable on Linux.
@preconcurrency import Dispatch
import Foundation
import WebServer

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Runs the backend until it is told to stop by SIGINT or SIGTERM.
@main
enum Program {
  static func main() async {
    let backend: BackendServer
    do {
      let configuration = try BackendServer.Configuration(
        environment: ProcessInfo.processInfo.environment,
        folder: URL(fileURLWithPath: FileManager.default.currentDirectoryPath),
        report: complain
      )
      backend = try BackendServer(configuration)
    } catch let error as HTTPServerError {
      complain("\(error). To use another port, set BACKEND_PORT.")
      exit(1)
    } catch {
      complain("\(error)")
      exit(1)
    }

    let signals = stopSignals()
    print("Backend listening on \(backend.url)")
    // Whoever starts this program through a pipe waits for that line. All streams, because `stdout` isn't safe to name.
    fflush(nil)
    for await _ in signals { break }
    await backend.stop()
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

  @Sendable private static func complain(_ message: String) {
    FileHandle.standardError.write(Data("backend-server: \(message)\n".utf8))
  }
}
