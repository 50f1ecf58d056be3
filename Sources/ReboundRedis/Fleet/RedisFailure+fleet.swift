#if Redis
  extension RedisFailure {
    /// Whether a server says so that takes no changes, as one does that was the primary before a fail-over.
    var isOfReplica: Bool {
      guard case .refused(let text) = self else { return false }
      // Older servers say it inside of what they say of a script.
      return ["READONLY", "MASTERDOWN"].contains { text.contains($0) }
    }

    /// Tells reasons apart; `nil` for those that say only that there is no connection.
    var kind: Int? {
      switch self {
      case .connection: 1
      case .timedOut: 2
      case .refused: 3
      case .moved: 4
      case .unexpected: 5
      case .disconnected, .overloaded, .cancelled, .closed: nil
      }
    }
  }
#endif
