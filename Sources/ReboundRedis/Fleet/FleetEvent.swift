#if Redis
  import Rebound

  /// Something that happened between a fleet's member and its server.
  public enum FleetEvent: Hashable, Sendable {
    /// The server answers, and from now on it decides; with how many members there are, and for how long each policy has
    /// gone by itself.
    case joined(instances: Int, after: Duration)
    /// The server gave no answer of use: each policy goes by itself, with one member's share.
    ///
    /// Also told when the first connection can't be made, and while that lasts, once for each other kind of reason, and
    /// once more after an observer was added.
    case fellBack(RedisFailure)
    /// The server has refused what one policy asked, such as to read a key of another kind, and decides all else: that
    /// policy goes by itself where it is refused.
    ///
    /// Told once for each kind of reason since the fleet has joined, and once more after an observer was added.
    case refused(RedisFailure)
    /// The retry policy makes no other connection.
    ///
    /// Told once more after an observer was added.
    case gaveUp(RedisFailure)
    /// The member has left for good; each policy goes by itself, with one member's share.
    case left
  }

  extension FleetEvent: CustomStringConvertible {
    /// One line for a log: "joined; 10 instances, 2.5 seconds alone".
    public var description: String {
      switch self {
      case .joined(let instances, let duration): "joined; \(instances) instances, \(duration) alone"
      case .fellBack(let reason): "fell back to the share of one instance (\(reason))"
      case .refused(let reason): "decides by itself what the server refuses (\(reason))"
      case .gaveUp(let reason): "gave up (\(reason))"
      case .left: "left"
      }
    }
  }

  extension FleetEvent: PolicyDecision {
    /// That of fleets.
    public static var kind: PolicyKind { .fleet }

    /// A warning while policies go by themselves, or one of them does; an error if they will for ever.
    public var severity: PolicyEvent.Severity {
      switch self {
      case .joined, .left: .info
      case .fellBack, .refused: .warning
      case .gaveUp: .error
      }
    }

    /// The event in a word.
    public var word: String {
      switch self {
      case .joined: "joined"
      case .fellBack: "fell_back"
      case .refused: "refused"
      case .gaveUp: "gave_up"
      case .left: "left"
      }
    }
  }

  extension PolicyKind {
    /// That of a ``Fleet``.
    public static let fleet = PolicyKind("fleet")
  }
#endif
