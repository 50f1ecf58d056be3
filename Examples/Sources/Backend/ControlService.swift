import Foundation
import WebServer

/// Where the control routes are, which never fail on command.
enum ControlPath {
  static let faults = "/control/faults"
  static let reset = "/control/reset"
  static let requests = "/control/requests"

  static func contains(_ path: String) -> Bool {
    path == "/control" || path.hasPrefix("/control/")
  }
}

/// Stands in front of the services, and makes them fail on command.
final class ControlService: Sendable {
  private struct Rules: Encodable {
    let rules: [FaultTable.Report]
  }

  private struct Requests: Encodable {
    let requests: [RequestLog.Entry]
  }

  private let resetServices: @Sendable () -> Void
  private let now: @Sendable () -> ContinuousClock.Instant
  private let start: ContinuousClock.Instant
  private let faults = Locked(FaultTable())
  private let log = Locked(RequestLog())

  /// - Parameters:
  ///   - now: Measures when requests come.
  ///   - resetServices: Puts the services back to their beginning; accounts stay.
  init(now: @escaping @Sendable () -> ContinuousClock.Instant, resetServices: @escaping @Sendable () -> Void) {
    self.resetServices = resetServices
    self.now = now
    self.start = now()
  }

  func addRoutes(to router: inout Router) {
    router.on(.get, ControlPath.faults) { [self] _ in try rules() }
    router.on(.post, ControlPath.faults) { [self] request in
      let rule = try request.decodeJSON(FaultRule.self)
      faults.withLock { $0.set(rule) }
      return try rules()
    }
    router.on(.delete, ControlPath.faults) { [self] _ in
      faults.withLock { $0.removeAll() }
      return try rules()
    }
    router.on(.post, ControlPath.reset) { [self] _ in
      faults.withLock { $0.removeAll() }
      resetServices()
      return try rules()
    }
    router.on(.get, ControlPath.requests) { [self] _ in
      try .json(Requests(requests: log.withLock { $0.entries }))
    }
  }

  /// Answers a request with the fault that is in force for it, or else with what `answer` says.
  func respond(to request: Request, with answer: (Request) async -> Response) async -> Response {
    guard !ControlPath.contains(request.path) else { return await answer(request) }
    let arrival = now()
    // A browser's question whether it may send a request is none for the service, and must not use up that request's fault.
    let rule = request.method == .options ? nil : faults.withLock { $0.take(for: request.path) }
    var response: Response
    switch rule?.kind {
    case nil, .some(.none): response = await answer(request)
    case .truncate: response = await answer(request).truncated()
    case .status: response = ControlService.error(of: rule)
    case .drop: response = .dropped
    case .garbage: response = ControlService.garbage
    case .captivePortal: response = ControlService.captivePortal
    }
    response.delay += rule?.latency ?? .zero
    record(request, response, rule, at: arrival)
    return response
  }

  private func rules() throws -> Response {
    try .json(Rules(rules: faults.withLock { $0.report }))
  }

  private func record(
    _ request: Request,
    _ response: Response,
    _ rule: FaultRule?,
    at arrival: ContinuousClock.Instant
  ) {
    let isAnswered = if case .dropped = response.content { false } else { true }
    let entry = RequestLog.Entry(
      method: request.method.rawValue,
      target: request.target,
      status: isAnswered ? response.status : nil,
      fault: rule?.kind.rawValue,
      milliseconds: Int((arrival - start) / .milliseconds(1))
    )
    log.withLock { $0.add(entry) }
  }

  private static func error(of rule: FaultRule?) -> Response {
    .error(
      rule?.status ?? 500,
      rule?.reason ?? "Failed on command",
      headers: rule?.retryAfter.map { ["Retry-After": $0] } ?? [:]
    )
  }

  private static let garbage = Response(
    contentType: "application/json",
    body: Data([0xFF, 0xFE, 0x00]) + Data("}{".utf8)
  )

  private static let captivePortal = Response(
    contentType: "text/html; charset=utf-8",
    body: Data(
      """
      <!DOCTYPE html>
      <html lang="en">
      <title>Welcome to our network</title>
      <h1>Welcome to our network</h1>
      <p>Accept our terms to go online.</p>
      <form><button>Accept</button></form>
      </html>

      """.utf8
    )
  )
}
