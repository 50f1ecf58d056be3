import Foundation
import WebServer

/// The app: a page with three apps on it, and for each page that is open a session with what stands behind them.
public final class App: Sendable {
  private let server: HTTPServer

  /// Starts the app.
  ///
  /// - Parameters:
  ///   - configuration: Where it listens.
  ///   - backend: The address of the backend.
  ///   - timer: Measures how long sessions wait for their pages to come back.
  ///   - report: Is told of failures of the app itself.
  /// - Throws: `HTTPServerError` if it can't listen, ``PageError`` if the page's files are not there.
  public init(
    _ configuration: HTTPServer.Configuration,
    backend: URL,
    timer: any ServerTimer = DispatchServerTimer(),
    report: @escaping @Sendable (String) -> Void
  ) throws {
    let page = try Page()
    let metrics = ProgramMetrics()
    let sessions = Sessions(services: try Services(backend: backend, metrics: metrics), timer: timer)
    try metrics.tellPages { [weak sessions] in sessions?.count }
    let faults = FaultControl(backend: backend)

    var router = Router { error, request in report("\(request.method.rawValue) \(request.path): \(error)") }
    for file in page.files {
      router.on(.get, file.path) { _ in file.response }
    }
    router.on(.get, "/metrics") { metrics.response(to: $0) }
    router.on(.post, "/sessions") { _ in
      try .json(["session": sessions.open()], status: 201)
    }
    router.on(.get, "/sessions/:id/events") { request in
      .events(try sessions.session(for: request).open())
    }
    router.on(.post, "/sessions/:id/actions") { request in
      let session = try sessions.session(for: request)
      let action = try request.decodeJSON(Action.self)
      switch action {
      case .fault(let order): try await faults.add(order)
      case .clearFaults: try await faults.clear()
      case .order(let order): try await faults.give(order)
      case .show, .inspect, .signUp, .weather, .animals: session.perform(action)
      }
      return Response(status: 204)
    }
    router.on(.get, "/sessions/:id/recording") { request in
      Response(contentType: "application/json", body: try await sessions.session(for: request).recording())
    }
    router.on(.get, "/sessions/:id/runs/:run/test") { request in
      guard let app = request.queryValues(of: "app").compactMap(\.self).first.flatMap(Tab.init) else {
        throw HTTPError(400, "The address does not say whose request it is: app=signUp, weather or animals.")
      }
      let calls = Set(request.queryValues(of: "call").compactMap(\.self))
      let run = Int(request.parameters["run"] ?? "") ?? 0
      return try await sessions.session(for: request).test(ofRun: run, of: app, calls: calls).response()
    }
    server = try HTTPServer(configuration) { [router] in await router.respond(to: $0) }
  }

  /// The port on which the app listens.
  public var port: UInt16 { server.port }

  /// The app's address, without a slash at its end.
  public var url: String { server.url }

  /// Stops the app; pages that are open lose their sessions.
  public func stop() async {
    await server.stop()
  }
}
