/// Finds the handler for a request by method and path.
///
/// Patterns are paths whose segments are literal, or named with a colon: `/sessions/:id/events`. A literal segment wins
/// over a named one. `HEAD` is answered by the route for `GET`; `OPTIONS` by the router, with the path's methods. An
/// unknown path is answered with 404, a known one with another method with 405 and `Allow`.
///
/// Finding a route takes time proportional to the number of routes.
public struct Router: Sendable {
  /// Answers a request; a thrown ``HTTPError`` is answered as it says, any other error with 500.
  public typealias Handler = @Sendable (Request) async throws -> Response

  private struct Route: Sendable {
    let method: HTTPMethod
    let pattern: [Segment]
    let handler: Handler
  }

  private enum Segment: Hashable {
    case literal(String)
    case parameter(String)
  }

  private var routes: [Route] = []
  private let report: @Sendable (any Error, Request) -> Void

  /// Makes a router without routes.
  ///
  /// - Parameter report: Is told of errors that a handler threw and that aren't meant as an answer. The client only
  ///   learns that the server failed.
  public init(report: @escaping @Sendable (any Error, Request) -> Void) {
    self.report = report
  }

  /// Adds a route.
  ///
  /// - Parameter pattern: A path that begins with a slash.
  public mutating func on(_ method: HTTPMethod, _ pattern: String, _ handler: @escaping Handler) {
    // Patterns are literals of the program, so a bad one is a mistake that the first start shows.
    precondition(pattern.hasPrefix("/"), "WebServer: the pattern '\(pattern)' must begin with a slash")
    let segments = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
      $0.hasPrefix(":") ? Segment.parameter(String($0.dropFirst())) : .literal(String($0))
    }
    // As above: two routes of one method and pattern, of which one would never be called, are a mistake in the program.
    precondition(
      !routes.contains { $0.method == method && $0.pattern == segments },
      "WebServer: there is a route for \(method.rawValue) \(pattern) already"
    )
    routes.append(Route(method: method, pattern: segments, handler: handler))
  }

  /// Adds a route whose handler answers by calling back, from any thread.
  ///
  /// - Parameter handler: Gets a ``Responder``, which it can keep as long as it needs. If it lets go of it without
  ///   answering, the answer is 500.
  public mutating func on(
    _ method: HTTPMethod,
    _ pattern: String,
    callback handler: @escaping @Sendable (Request, Responder) -> Void
  ) {
    on(method, pattern) { request in
      await withCheckedContinuation { handler(request, Responder($0)) }
    }
  }

  /// Answers a request.
  public func respond(to request: Request) async -> Response {
    let matches = routes.compactMap { route in
      Router.parameters(of: request.segments, in: route.pattern).map { (route, $0) }
    }
    guard let best = matches.max(by: { Router.isLessSpecific($0.0.pattern, $1.0.pattern) }) else {
      return .error(404, "There is nothing at \(request.path)")
    }

    let candidates = matches.filter { $0.0.pattern == best.0.pattern }
    let method = request.method == .head ? .get : request.method
    guard let (route, parameters) = candidates.first(where: { $0.0.method == method }) else {
      let allowed = Router.allowedMethods(candidates.map(\.0.method))
      guard request.method != .options else { return Response(status: 204, headers: ["Allow": allowed]) }
      return .error(
        405,
        "\(request.method.rawValue) isn't possible at \(request.path); use one of: \(allowed)",
        headers: ["Allow": allowed]
      )
    }

    var request = request
    request.parameters = parameters
    do {
      return try await route.handler(request)
    } catch let error as HTTPError {
      return .error(error)
    } catch {
      report(error, request)
      return .error(500, "The server failed to answer this request")
    }
  }

  private static func parameters(of segments: [String], in pattern: [Segment]) -> [String: String]? {
    guard segments.count == pattern.count else { return nil }
    var parameters: [String: String] = [:]
    for (segment, expected) in zip(segments, pattern) {
      switch expected {
      case .literal(let text):
        guard text == segment else { return nil }
      case .parameter(let name):
        guard !segment.isEmpty else { return nil }
        parameters[name] = segment
      }
    }
    return parameters
  }

  /// Compares two patterns that match the same path: the first place where only one is literal decides.
  private static func isLessSpecific(_ left: [Segment], _ right: [Segment]) -> Bool {
    for case (let left, let right) in zip(left, right) {
      switch (left, right) {
      case (.parameter, .literal): return true
      case (.literal, .parameter): return false
      case (.literal, .literal), (.parameter, .parameter): continue
      }
    }
    return false
  }

  private static func allowedMethods(_ methods: [HTTPMethod]) -> String {
    var names = methods.map(\.rawValue)
    if methods.contains(.get) { names.append(HTTPMethod.head.rawValue) }
    names.append(HTTPMethod.options.rawValue)
    return names.sorted().joined(separator: ", ")
  }
}

/// The place where a handler that calls back leaves its answer.
///
/// The first answer counts; later ones are ignored.
public final class Responder: Sendable {
  private let continuation: Locked<CheckedContinuation<Response, Never>?>

  init(_ continuation: CheckedContinuation<Response, Never>) {
    self.continuation = Locked(continuation)
  }

  deinit {
    respond(.error(500, "The server failed to answer this request"))
  }

  /// Answers the request.
  ///
  /// - Returns: Whether this was the first answer.
  @discardableResult
  public func respond(_ response: Response) -> Bool {
    let first = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    first?.resume(returning: response)
    return first != nil
  }
}
