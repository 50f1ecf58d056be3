#if Redis
  import Rebound

  /// How a member of a fleet deals with its server.
  public struct FleetSettings: Sendable {
    /// How long a decision waits for the server; behind it, the member decides by itself.
    public var bound: Duration = .milliseconds(20)
    /// How often a member says that it is alive.
    public var heartbeat: Duration = .milliseconds(500)
    /// For how long after a fleet has shrunk a ``Quorum`` is still taken of its former size.
    ///
    /// A member that the server hears no more of may be as well as ever. Only after so long it counts as gone.
    public var peakMemory: Duration = .seconds(300)
    /// How often a member that goes by itself asks whether the server answers again.
    public var probeInterval: Duration = .milliseconds(250)
    /// How long it takes at most to connect.
    public var connectLimit: Duration = .seconds(5)
    /// After how long without any answer a connection is given up.
    public var silenceLimit: Duration = .seconds(2)
    /// How many commands wait for an answer at most.
    public var maxWaiting = 10_000
    /// When a lost connection is made again.
    ///
    /// It begins anew once a connection has brought an answer that makes sense: one that was only made, and is lost or brings
    /// nonsense, counts as a failure like others.
    public var reconnect = RetryPolicy<RedisFailure>(
      clamping: nil,
      backoff: .exponential(from: .milliseconds(50), upTo: .seconds(5))
    )

    /// 20 ms for a decision, a heartbeat each half of a second.
    public static let standard = FleetSettings()

    /// The settings of ``standard``.
    public init() {}

    /// The longest that any of the durations may be.
    static let longest = Duration.seconds(3_600)
    /// The longest that a server is to remember anybody who says nothing: of four heartbeats.
    static let longestLease = longest * 4

    func validate() throws(InvalidPolicy) {
      let durations = [
        ("bound", bound), ("heartbeat", heartbeat), ("peakMemory", peakMemory), ("probeInterval", probeInterval),
        ("connectLimit", connectLimit), ("silenceLimit", silenceLimit),
      ]
      for (name, duration) in durations {
        try PolicyKind.fleet.require(name, duration, "Give a positive duration.") {
          (.microseconds(1)...Self.longest).contains($0)
        }
      }
      try PolicyKind.fleet.require("maxWaiting", maxWaiting, "Give at least 1.") { $0 >= 1 }
    }
  }
#endif
