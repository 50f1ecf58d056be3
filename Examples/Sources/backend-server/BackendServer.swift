import Backend
import Foundation
import WebServer

/// Runs the backend until it is told to stop by SIGINT or SIGTERM.
@main
enum BackendServer {
  static func main() async {
    let backend: Backend
    do {
      let configuration = try Backend.Configuration(
        environment: ProcessInfo.processInfo.environment,
        folder: URL(fileURLWithPath: FileManager.default.currentDirectoryPath),
        report: complain
      )
      backend = try Backend(configuration)
    } catch let error as WebServerError {
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
