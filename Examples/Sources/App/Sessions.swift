import Foundation
import FoundationNetworking
import SignUp
import WebServer

/// The sessions of all pages that are open, by their secret names.
final class Sessions: Sendable {
  private let backend: URL
  private let urlSession: URLSession
  private let sessions = Locked<[String: Session]>([:])

  init(backend: URL) {
    self.backend = backend
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 15
    urlSession = URLSession(configuration: configuration)
  }

  /// Opens a session, and returns its name, which nobody can guess.
  func open() -> String {
    let name = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    let service = AuthenticationService(baseURL: backend, session: urlSession)
    let session = Session(
      makeModel: { SignUpViewModel(service: service, scheduler: $0) },
      onAbandoned: { [weak self] in self?.sessions.withLock { $0[name] = nil } }
    )
    sessions.withLock { $0[name] = session }
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
