import Foundation
import StreamSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The sessions of one transport.
///
/// On Linux each origin has one of its own, and so has each request that must not share a connection. There all sessions
/// of the process share one queue, which they use in turns; but a download that has always something to read keeps others
/// from theirs: those of its session always, and those of other sessions on a busy machine.
final class URLSessionPool: Sendable {
  fileprivate struct State {
    var sessions: [String: OwnedURLSession] = [:]
    /// The origins, the one that was asked for last at the end.
    var order: [String] = []
  }

  private let configuration: URLSessionConfiguration
  private let reachability: any Reachability
  private let state = Locked(State())

  /// How many sessions are kept; one that makes room ends what it has begun.
  private static let capacity = 32

  init(_ configuration: URLSessionConfiguration, _ reachability: any Reachability) {
    self.configuration = configuration
    self.reachability = reachability
  }

  /// The session for a request.
  func session(for request: TransportRequest) -> OwnedURLSession {
    guard let origin = URLSessionPool.origin(of: request) else { return makeSession() }
    if let known = state.withLock({ $0.use(origin) }) { return known }
    let new = makeSession()
    let (session, released) = state.withLock { $0.add(new, origin, capacity: URLSessionPool.capacity) }
    withExtendedLifetime(released) {}
    return session
  }

  /// Lends no more a session in which a request has taken too long: on Linux it may go on with what was cancelled, and let
  /// nothing else have a turn.
  func giveUp(_ session: OwnedURLSession) {
    #if !canImport(Darwin)
      let released = state.withLock { $0.remove(session) }
      withExtendedLifetime(released) {}
    #endif
  }

  private func makeSession() -> OwnedURLSession {
    OwnedURLSession(configuration, reachability)
  }

  /// Whom a request shares a session with; `nil` if it must not share one.
  private static func origin(of request: TransportRequest) -> String? {
    #if canImport(Darwin)
      return ""
    #else
      guard case .none = request.body, request.isIdempotent else { return nil }
      return "\(request.url.scheme ?? "")://\(request.url.host ?? ""):\(request.url.port ?? 0)"
    #endif
  }
}

extension URLSessionPool.State {
  fileprivate mutating func use(_ origin: String) -> OwnedURLSession? {
    guard let session = sessions[origin] else { return nil }
    if order.last != origin {
      order.removeAll { $0 == origin }
      order.append(origin)
    }
    return session
  }

  fileprivate mutating func remove(_ session: OwnedURLSession) -> OwnedURLSession? {
    guard let origin = order.first(where: { sessions[$0] === session }) else { return nil }
    order.removeAll { $0 == origin }
    return sessions.removeValue(forKey: origin)
  }

  /// Adds a session, unless another thread was first; returns the one to use, and one that is not needed any more.
  fileprivate mutating func add(
    _ new: OwnedURLSession,
    _ origin: String,
    capacity: Int
  ) -> (used: OwnedURLSession, released: OwnedURLSession?) {
    if let known = use(origin) { return (known, new) }
    sessions[origin] = new
    order.append(origin)
    guard order.count > capacity else { return (new, nil) }
    return (new, sessions.removeValue(forKey: order.removeFirst()))
  }
}
