import Backend
import Foundation
import WebServer

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
    await ServerProgram.run(announcing: "Backend listening on \(backend.url)")
    await backend.stop()
  }

  @Sendable private static func complain(_ message: String) {
    ServerProgram.complain(message, program: "backend-server")
  }
}
