import App
import Foundation
import WebServer

/// Runs the app until it is told to stop by SIGINT or SIGTERM.
///
/// `APP_PORT` says where it listens (8090 if absent, 0 for a free port), `BACKEND_URL` where the backend is.
@main
enum Program {
  static func main() async {
    let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
    let portSetting = environment["APP_PORT"] ?? "8090"
    guard let port = UInt16(portSetting) else {
      complain("APP_PORT is '\(portSetting)', but must be a number from 0 to 65535")
      exit(1)
    }
    let backendSetting = environment["BACKEND_URL"] ?? "http://127.0.0.1:8080"
    guard let backend = URL(string: backendSetting), backend.scheme == "http", backend.host != nil else {
      complain("BACKEND_URL is '\(backendSetting)', but must be an address such as http://127.0.0.1:8080")
      exit(1)
    }
    let app: App
    do {
      app = try App(HTTPServer.Configuration(port: port), backend: backend, report: complain)
    } catch let error as HTTPServerError {
      complain("\(error). To use another port, set APP_PORT.")
      exit(1)
    } catch {
      complain("\(error)")
      exit(1)
    }
    await ServerProgram.run(announcing: "App listening on \(app.url)")
    await app.stop()
  }

  @Sendable private static func complain(_ message: String) {
    ServerProgram.complain(message, program: "app-server")
  }
}
