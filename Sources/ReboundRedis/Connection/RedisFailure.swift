#if Redis
  import Foundation

  /// Why a server gave no answer, or none that is of use.
  public enum RedisFailure: Error, Hashable, Sendable {
    /// There is no connection now.
    case disconnected
    /// The connection could not be made, or was lost.
    case connection(String)
    /// The answer did not come in time.
    case timedOut(after: Duration)
    /// More commands wait for an answer than may.
    case overloaded(waiting: Int)
    /// The server has answered with an error: what it said.
    case refused(String)
    /// The server is a node of a cluster, and does not have the key: what it said.
    case moved(String)
    /// The server has answered something that makes no sense here.
    case unexpected(String)
    /// Nobody waits for the answer any more.
    case cancelled
    /// The connection was closed by its owner.
    case closed
  }

  extension RedisFailure {
    /// The failure that an answer stands for which begins as errors do.
    static func answered(_ text: String) -> RedisFailure {
      let isMoved = ["MOVED ", "ASK "].contains { text.hasPrefix($0) }
      return isMoved ? .moved(text) : .refused(text)
    }
  }

  extension RedisFailure: CustomStringConvertible {
    /// What happened, and what to look at.
    public var description: String {
      switch self {
      case .disconnected: "Redis: there is no connection now; another one is being made."
      case .connection(let reason): "Redis: no connection (\(reason)). Look whether the server runs and can be reached."
      case .timedOut(let limit): "Redis: no answer within \(limit). Look at the server's load and the network."
      case .overloaded(let waiting):
        "Redis: \(waiting) commands wait for an answer, and more may not. Look at the server's load."
      case .refused(let text): "Redis has refused: \(text). Look at the user's rights and the server's settings."
      case .moved(let text):
        "Redis: this is a node of a cluster, and another one has the key (\(text)). Give the fleet a proxy of the cluster, or a "
          + "server that is no part of one: a fleet has one connection, and follows nobody elsewhere."
      case .unexpected(let text):
        "Redis has answered something unexpected: \(text). Look at what stands at the address."
      case .cancelled: "Redis: nobody waits for the answer any more; nothing is to be done."
      case .closed: "Redis: the connection was closed. Make another fleet to go on."
      }
    }
  }

  extension RedisFailure: LocalizedError {
    /// What happened, for people, who know of no Redis.
    public var errorDescription: String? {
      switch self {
      case .disconnected, .connection, .timedOut, .closed: "A part of the service does not answer."
      case .overloaded: "A part of the service has too much to do."
      case .refused, .moved, .unexpected: "A part of the service does not work as it should."
      case .cancelled: "It was cancelled."
      }
    }
    /// What to do next, for people.
    public var recoverySuggestion: String? {
      switch self {
      case .disconnected, .connection, .timedOut, .overloaded: "Try again in a moment."
      case .refused, .moved, .unexpected, .closed: "Try again later."
      case .cancelled: nil
      }
    }
  }
#endif
