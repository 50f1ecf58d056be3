#if Redis
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
      case .overloaded(let waiting): "Redis: \(waiting) commands wait for an answer, and more may not."
      case .refused(let text): "Redis has refused: \(text)"
      case .moved(let text):
        "Redis: this is a node of a cluster, and another one has the key (\(text)). Give the fleet a proxy of the cluster, or a "
          + "server that is no part of one: a fleet has one connection, and follows nobody elsewhere."
      case .unexpected(let text): "Redis has answered something unexpected: \(text)"
      case .cancelled: "Redis: nobody waits for the answer any more."
      case .closed: "Redis: the connection was closed."
      }
    }
  }
#endif
