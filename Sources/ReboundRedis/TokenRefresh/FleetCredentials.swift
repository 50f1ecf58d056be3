#if Redis
  import Foundation
  import Rebound

  /// Where the processes of a fleet keep the one credential that they share.
  ///
  /// Whoever is to renew it takes a lease, under a name that nobody else has. The server remembers who took it last, and
  /// whoever comes late changes nothing.
  struct FleetCredentials<Credential: Codable & Sendable>: Sendable {
    let fleet: Fleet
    let lease: Duration
    let keptFor: Duration
    let renewsAlone: Bool
    let keys: [String]

    init(_ name: String, fleet: Fleet, lease: Duration, keptFor: Duration, renewsAlone: Bool) {
      (self.fleet, self.lease, self.keptFor, self.renewsAlone) = (fleet, lease, keptFor, renewsAlone)
      keys = [fleet.key(name) + "lease", fleet.key(name) + "credential"]
    }

    /// Runs a function while no other process runs one; under the server's lease, or, if it does not decide, alone.
    func exclusively(_ body: @escaping @Sendable () async -> Void) async throws {
      let holder = fleet.makeName()
      while true {
        var command = RedisCommand(CredentialScripts.take, keys: keys)
        command.add(holder)
        command.add(lease.milliseconds)
        command.add(keptFor.milliseconds)
        let reply = await fleet.ask(command, late: { if ($0.integer ?? 0) > 0 { release(holder) } })
        guard let number = reply?.integer, number > .min else {
          if let reply { fleet.distrust(reply) }
          guard renewsAlone else { throw RedisFailure.disconnected }
          // Also inside of a renewal that has a lease, which is another one's.
          return await LeaseHolder.$current.withValue(nil) { await body() }
        }
        if number > 0 {
          await LeaseHolder.$current.withValue(holder) { await body() }
          return release(holder)
        }
        // Whoever has it is done soon, or dead by then.
        try await fleet.time.sleep(for: min(.milliseconds(max(-number, 1)), Self.pollInterval))
      }
    }

    private func release(_ holder: String) {
      var release = RedisCommand(CredentialScripts.release, keys: keys)
      release.add(holder)
      fleet.tell(release)
    }

    func read() async throws -> Credential? {
      guard LeaseHolder.current != nil else { return nil }
      switch await fleet.ask(RedisCommand("HGET", keys[1], "value")) {
      case .bytes(let bytes): return try JSONDecoder().decode(Credential.self, from: Data(bytes))
      case .missing: return nil
      // To renew without knowing what another process has done might use up its credential.
      case nil: throw RedisFailure.disconnected
      case let reply?: throw RedisFailure.unexpected("\(reply)")
      }
    }

    func write(_ credential: Credential) async throws {
      guard let holder = LeaseHolder.current else { return }
      var command = RedisCommand(CredentialScripts.write, keys: keys)
      command.add(holder)
      command.add(keptFor.milliseconds)
      command.add([UInt8](try JSONEncoder().encode(credential)))
      switch await fleet.ask(command)?.integer {
      case 1: return
      case 0: throw LeaseLost()
      default: throw RedisFailure.disconnected
      }
    }

    private static var pollInterval: Duration { .milliseconds(25) }
  }

  /// A process has taken longer than its lease, and another one has begun: what it brings is not stored.
  public struct LeaseLost: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened, and what to do about it.
    public var description: String {
      "The lease was over before the work was done. Give the work a time limit that is shorter than the lease."
    }
  }

  extension LeaseLost: LocalizedError {
    /// What happened, for people.
    public var errorDescription: String? { "Your session was renewed too late to be kept." }
    /// What to do next, for people.
    public var recoverySuggestion: String? { "Try again in a moment." }
  }

  /// Who a task is to the server that runs under a lease.
  private enum LeaseHolder {
    @TaskLocal static var current: String?
  }

  enum CredentialScripts {
    /// Takes the lease if it is free.
    ///
    /// The number of the lease tells no holders apart: a server that has forgotten all begins at one again.
    ///
    /// Arguments: who takes it, for how many milliseconds, and how long the credential is kept. Returns the number of the
    /// lease; below zero, for how many milliseconds another one has it.
    static let take = RedisScript(
      """
      if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
        local number = redis.call('HINCRBY', KEYS[2], 'number', 1)
        redis.call('HSET', KEYS[2], 'holder', ARGV[1])
        redis.call('PEXPIRE', KEYS[2], ARGV[3])
        return number
      end
      return -math.max(redis.call('PTTL', KEYS[1]), 1)
      """
    )

    /// Stores a credential, unless another lease was taken meanwhile; returns whether it has.
    ///
    /// Arguments: who has taken the lease, for how many milliseconds the credential is kept, and the credential.
    static let write = RedisScript(
      """
      if redis.call('HGET', KEYS[2], 'holder') ~= ARGV[1] then return 0 end
      redis.call('HSET', KEYS[2], 'value', ARGV[3])
      redis.call('PEXPIRE', KEYS[2], ARGV[2])
      return 1
      """
    )

    /// Gives the lease back, if it is still the same.
    static let release = RedisScript(
      """
      if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
      return 0
      """
    )
  }

  extension Fleet {
    /// Where a `TokenRefresher` of each process keeps the credential that all share, so that one renews it for all.
    ///
    ///     let store = try fleet.credentials("session", as: Token.self, isSame: ==)
    ///     let session = TokenRefresher<Token>(store: store) { request in await renew(request) }
    ///
    /// A process that dies while it renews the credential costs its lease, and no more. One that comes back later than that
    /// stores nothing. The server holds the credential as JSON that anybody can read who can read the server.
    ///
    /// A name is for one session: the next refresh of whoever signs in under it takes over what the server holds, also if that
    /// is somebody else's, or was revoked. So give each person a name, and have a session that begins anew begin under another
    /// one, or after its `:credential` key was deleted.
    ///
    /// - Keys: `rebound:{fleet:name}:lease`, who renews the credential, which expires with the lease; and
    ///   `rebound:{fleet:name}:credential`, a hash of the number of the last lease, who took it, and the credential.
    ///
    /// - Parameters:
    ///   - name: What the session is called: processes that name the same share it.
    ///   - type: What a credential is.
    ///   - lease: How long one process may take to renew the credential.
    ///   - keptFor: How long the server keeps the credential after it was stored last.
    ///   - renewsAlone: Whether a process renews the credential by itself while the fleet is not joined. Not for servers
    ///     that accept a refresh token only once; then the refresh fails, and the session goes on.
    ///   - isSame: Whether renewing one of two credentials uses the other up.
    /// - Throws: `InvalidPolicy`, with what makes no sense.
    public func credentials<Credential: Codable & Sendable>(
      _ name: String,
      as type: Credential.Type = Credential.self,
      lease: Duration = .seconds(30),
      keptFor: Duration = .seconds(30 * 86_400),
      renewsAlone: Bool = true,
      isSame: @escaping @Sendable (Credential, Credential) -> Bool
    ) throws(InvalidPolicy) -> CredentialStore<Credential> {
      for (setting, duration) in [("lease", lease), ("keptFor", keptFor)] {
        try PolicyKind.authentication.require(setting, duration, "Give 10 ms … 1,000,000,000 s.") {
          (.milliseconds(10)...Duration.longestDelay).contains($0)
        }
      }
      let credentials = FleetCredentials<Credential>(
        try checked(name, .authentication),
        fleet: self,
        lease: lease,
        keptFor: keptFor,
        renewsAlone: renewsAlone
      )
      return CredentialStore(
        isSame: isSame,
        read: { try await credentials.read() },
        write: { try await credentials.write($0) },
        exclusively: { try await credentials.exclusively($0) }
      )
    }
  }
#endif
