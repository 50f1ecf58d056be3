import WebServer

/// The sessions of all pages that are open, by their secret names.
final class Sessions: Sendable {
  private let services: Services
  private let timer: any ServerTimer
  private let sessions = Locked<[String: Session]>([:])

  init(services: Services, timer: any ServerTimer) {
    self.services = services
    self.timer = timer
  }

  /// How many pages are open.
  var count: Int { sessions.withLock { $0.count } }

  /// Opens a session, and returns its name, which nobody can guess.
  func open() -> String {
    let name = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    let session = Session(services: services, timer: timer) { [weak self] in
      self?.sessions.withLock { $0[name] = nil }
    }
    sessions.withLock { $0[name] = session }
    services.metrics.pageOpened()
    return name
  }

  /// The session that a request's path names.
  func session(for request: Request) throws(HTTPError) -> Session {
    guard let name = request.parameters["id"], let session = sessions.withLock({ $0[name] }) else {
      throw HTTPError(404, "This session is over. Reload the page to begin a new one.")
    }
    return session
  }
}
