#if Redis
  import Foundation
  import Rebound
  import StreamSupport

  /// Keeps values for the caches of all processes of a fleet, and has one of them fetch.
  ///
  ///     let storage = try fleet.cacheStorage("forecasts", of: String.self, as: Double.self)
  ///     let forecasts = Cache<String, Double, any Error>(policy: policy, storage: storage)
  ///     let orders = try IdempotencyKeys(keptFor: .seconds(86_400), storage: fleet.cacheStorage("orders", of: String.self, as: Int.self))
  ///     let latest = try LastGood(storage: fleet.cacheStorage("latest", of: String.self, as: Double.self))
  ///
  /// A look is one round trip, whether it finds a value or gets the claim to fetch one; to store a value, or to give the claim
  /// up, is one more, for whose answer nobody waits. Those who wait for another process ask again every 25 ms. The claim of a
  /// process that dies is over with its lease; one that comes later than that stores nothing.
  ///
  /// While the fleet is not joined, it finds nothing and gives no claim: caches then fetch by themselves, and
  /// `IdempotencyKeys` do as they are told. What is stored then may be lost, and what is removed then may stay, to be found when
  /// the fleet has joined again: whoever must not see it any more removes it once more then.
  ///
  /// The server holds values as JSON that anybody can read who can read the server.
  ///
  /// - Keys: `rebound:{fleet:name:key}:entry`, a hash of the value, when it was stored, how long it is good, and who fetches a
  ///   new one, until when. It expires when the value is good for nothing, or with the claim. A colon in the name of the fleet
  ///   or the storage is `%3A` there, and a `%` is `%25`.
  public final class FleetCacheStorage<Key: Hashable & Sendable, Value: Codable & Sendable>: CacheStorage {
    private let fleet: Fleet
    private let prefix: String
    private let lease: Duration
    private let naming: @Sendable (Key) -> String

    init(_ name: String, fleet: Fleet, lease: Duration, naming: @escaping @Sendable (Key) -> String) {
      (self.fleet, self.lease, self.naming) = (fleet, lease, naming)
      prefix = "rebound:{\(Fleet.part(fleet.name)):\(Fleet.part(name)):"
    }

    private func key(_ key: Key) -> [String] { ["\(prefix)\(naming(key))}:entry"] }

    /// Finds out what is kept, and whether the caller is to fetch a new value.
    public func look(_ key: Key) async -> CacheFinding<Value> {
      let claim = CacheClaim(name: fleet.makeName())
      while true {
        var command = RedisCommand(CacheScripts.look, keys: self.key(key))
        command.add(claim.name)
        command.add(lease.milliseconds)
        let late: @Sendable (RedisReply) -> Void = { [self] _ in release(claim, for: key) }
        guard let reply = try? await fleet.askUntilCancelled(command, late: late) else { break }
        guard let entry = Entry(reply) else {
          fleet.distrust(reply)
          break
        }
        let stored = try? stored(entry)
        switch entry.claimed {
        case .nobody: return CacheFinding(stored: stored, claim: nil)
        case .caller: return CacheFinding(stored: stored, claim: claim)
        case .another(let left):
          if let stored, stored.isGoodWhileRevalidated { return CacheFinding(stored: stored, claim: nil) }
          do {
            try await fleet.time.wait(for: min(left, .milliseconds(25)), until: Deadline.toHeed)
          } catch { return .cutShort }
        }
      }
      return CacheFinding(stored: nil, claim: nil)
    }

    /// What is kept, if anything is.
    public func peek(_ key: Key) async -> StoredValue<Value>? {
      var command = RedisCommand(CacheScripts.look, keys: self.key(key))
      command.add("")
      command.add(0)
      guard let reply = try? await fleet.askUntilCancelled(command) else { return nil }
      guard let entry = Entry(reply) else {
        fleet.distrust(reply)
        return nil
      }
      return try? stored(entry)
    }

    /// Keeps a value, if it was fetched under the claim that holds, or under none.
    public func store(_ value: Value, lifetime: CacheLifetime, for key: Key, under claim: CacheClaim?) {
      // What cannot be written as JSON is fetched by each process.
      guard let json = try? JSONEncoder().encode(value) else {
        if let claim { release(claim, for: key) }
        return
      }
      var command = RedisCommand(CacheScripts.store, keys: self.key(key))
      command.add(claim?.name ?? "")
      command.add(lifetime.fresh.milliseconds)
      command.add(lifetime.staleWhileRevalidate.milliseconds)
      command.add(lifetime.staleIfError.milliseconds)
      command.add([UInt8](json))
      fleet.tell(command)
    }

    /// Gives a claim up without a value.
    public func release(_ claim: CacheClaim, for key: Key) {
      var command = RedisCommand(CacheScripts.release, keys: self.key(key))
      command.add(claim.name)
      fleet.tell(command)
    }

    /// Forgets a key, and whose claim it is.
    public func remove(_ key: Key) {
      var command = RedisCommand("DEL")
      command.add(self.key(key)[0])
      fleet.tell(command)
    }

    /// - Throws: What the decoder does: another version of the program may have stored something else.
    private func stored(_ entry: Entry) throws -> StoredValue<Value>? {
      guard let json = entry.json else { return nil }
      return StoredValue(
        try JSONDecoder().decode(Value.self, from: Data(json)),
        age: entry.age,
        lifetime: entry.lifetime
      )
    }
  }

  /// What the server says of a key.
  private struct Entry {
    enum Claimed {
      case nobody
      case caller
      case another(left: Duration)
    }

    let claimed: Claimed
    let json: [UInt8]?
    let age: Duration
    let lifetime: CacheLifetime

    init?(_ reply: RedisReply) {
      guard case .array(let items) = reply, items.count == 7, let whose = items[0].integer else { return nil }
      let numbers = items[1...5].compactMap { $0.integer.map { Duration.milliseconds($0) } }
      guard numbers.count == 5 else { return nil }
      switch whose {
      case 0: claimed = .nobody
      case 1: claimed = .caller
      default: claimed = .another(left: numbers[0])
      }
      age = numbers[1]
      lifetime = CacheLifetime(fresh: numbers[2], staleWhileRevalidate: numbers[3], staleIfError: numbers[4])
      if case .bytes(let bytes) = items[6] { json = bytes } else { json = nil }
    }
  }

  enum CacheScripts {
    /// Finds what is kept, and takes the claim to fetch a new value if that is needed and nobody has it.
    ///
    /// A value that was stored at a moment still to come is of a server whose clock was ahead: its age counts from now on.
    ///
    /// Arguments: what the claim is called, and for how many milliseconds it holds; zero takes none. Returns whose claim it is
    /// (0 nobody's, 1 the caller's, 2 another's), for how long, the age of the value, how long it is fresh, good while another
    /// is fetched, and good after an error, and the value.
    static let look = RedisScript(
      """
      local time = redis.call('TIME')
      local now = time[1] * 1000 + math.floor(time[2] / 1000)
      local entry = redis.call('HMGET', KEYS[1], 'stored', 'fresh', 'revalidate', 'error', 'claim', 'until', 'value')
      local age, fresh = 0, tonumber(entry[2] or 0)
      if entry[7] then age = now - entry[1] end
      if age < 0 then
        age = 0
        redis.call('HSET', KEYS[1], 'stored', now)
      end
      local whose, left = 0, 0
      if ARGV[2] ~= '0' and not (entry[7] and age < fresh) then
        left = tonumber(entry[6] or 0) - now
        if entry[5] and entry[5] ~= ARGV[1] and left > 0 then
          whose = 2
        else
          whose = 1
          redis.call('HSET', KEYS[1], 'claim', ARGV[1], 'until', now + ARGV[2])
          \(FleetScripts.staying(2))
        end
      end
      return {whose, left, age, fresh, tonumber(entry[3] or 0), tonumber(entry[4] or 0), entry[7]}
      """
    )

    /// Keeps a value, and ends the claim.
    ///
    /// Arguments: the claim under which it was fetched, or nothing; for how many milliseconds it is fresh, good while another
    /// one is fetched, and good after an error; and the value. Returns whether it is kept.
    static let store = RedisScript(
      """
      if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'claim') ~= ARGV[1] then return 0 end
      local lasts = ARGV[2] + math.max(ARGV[3], ARGV[4])
      redis.call('DEL', KEYS[1])
      if lasts <= 0 then return 0 end
      local time = redis.call('TIME')
      local now = time[1] * 1000 + math.floor(time[2] / 1000)
      redis.call('HSET', KEYS[1], 'stored', now, 'fresh', ARGV[2], 'revalidate', ARGV[3], 'error', ARGV[4], 'value', ARGV[5])
      redis.call('PEXPIRE', KEYS[1], lasts)
      return 1
      """
    )

    /// Ends a claim, if it is still the same.
    static let release = RedisScript(
      """
      if redis.call('HGET', KEYS[1], 'claim') ~= ARGV[1] then return 0 end
      return redis.call('HDEL', KEYS[1], 'claim', 'until')
      """
    )
  }

  extension Fleet {
    /// Where caches, idempotency keys and last good values of all processes keep what one of them has got.
    ///
    /// - Parameters:
    ///   - name: What is kept: processes that name the same share it.
    ///   - keyType: What is asked for.
    ///   - type: What is kept.
    ///   - lease: How long one process may take to fetch a value; longer than its call's time limit.
    ///   - naming: What the server calls a key; `"\\(key)"` unless told otherwise.
    /// - Throws: `InvalidPolicy`, with what makes no sense.
    public func cacheStorage<Key: Hashable & Sendable, Value: Codable & Sendable>(
      _ name: String,
      of keyType: Key.Type,
      as type: Value.Type = Value.self,
      lease: Duration = .seconds(30),
      naming: @escaping @Sendable (Key) -> String = { "\($0)" }
    ) throws(InvalidPolicy) -> FleetCacheStorage<Key, Value> {
      try PolicyKind.cache.require("lease", lease, "Give 10 ms … 1,000,000,000 s.") {
        (.milliseconds(10)...Duration.longestDelay).contains($0)
      }
      return FleetCacheStorage(try checked(name, .cache), fleet: self, lease: lease, naming: naming)
    }
  }
#endif
