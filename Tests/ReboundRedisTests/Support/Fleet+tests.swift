#if Redis
  import Rebound

  @testable import ReboundRedis

  extension FleetSettings {
    /// A bound that a busy machine keeps, for tests of what the server decides.
    static var patient: FleetSettings {
      var settings = FleetSettings.standard
      settings.bound = .seconds(30)
      settings.silenceLimit = .seconds(60)
      settings.heartbeat = .milliseconds(50)
      settings.probeInterval = .milliseconds(10)
      settings.reconnect = RetryPolicy(clamping: nil, backoff: .constant(.milliseconds(5)))
      return settings
    }

    /// A bound that a frozen server oversteps.
    static var hasty: FleetSettings {
      var settings = patient
      settings.bound = .milliseconds(20)
      return settings
    }
  }

  extension Fleet {
    /// Members that have joined a fleet, and know of each other.
    static func joined(
      _ count: Int,
      at server: RedisServer,
      instances: Int = 10,
      settings: FleetSettings = .patient
    ) async throws -> [Fleet] {
      var fleets: [Fleet] = []
      for _ in 0..<count {
        fleets.append(try Fleet("test", at: server.address, instances: instances, settings: settings))
      }
      for fleet in fleets { await fleet.until { $0.isJoined && $0.instances >= count } }
      return fleets
    }

    /// Returns when a condition holds that heartbeats bring about.
    func until(_ condition: @escaping @Sendable (Fleet) -> Bool) async {
      let (stream, continuation) = AsyncStream<Void>.makeStream()
      let watcher = Watcher { continuation.yield() }
      add(watcher)
      onEvent { _ in continuation.yield() }
      if condition(self) { return }
      for await _ in stream where condition(self) { break }
      withExtendedLifetime(watcher) {}
    }
  }

  private final class Watcher: Fleet.Member {
    let whenAlive: @Sendable () -> Void

    init(_ whenAlive: @escaping @Sendable () -> Void) {
      self.whenAlive = whenAlive
    }

    func heartbeat() { whenAlive() }
  }
#endif
