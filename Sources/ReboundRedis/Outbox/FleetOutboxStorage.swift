#if Redis
  import Dispatch
  import Foundation
  import Rebound
  import ReboundOutbox
  import StreamSupport

  /// Keeps the entries of an outbox on the server, so that another process can go on with them when this one has died.
  ///
  ///     let storage = try fleet.outboxStorage("orders")
  ///
  /// One process at a time has the outbox, under a lease that each heartbeat renews. Another one that opens it meanwhile is
  /// refused (`OutboxStorageFailure/inUse(_:)`); it may try again, and gets it when the lease of a dead process
  /// is over. A process that was taken for dead, and is not, can store nothing any more. Nor does a change that arrives when a
  /// later one has, over a connection that was given up.
  ///
  /// It stands in for no other storage: while the server does not answer it throws, and the outbox stores what it has at
  /// the next occasion. Whether an entry survives the loss of the server's power is the server's affair: have it write each
  /// change to its log (`appendonly yes`, `appendfsync always`) before you rely on it. Nor must it make room by dropping keys that
  /// do not expire, as a server for caches does (`maxmemory-policy allkeys-…`): all entries are under one.
  ///
  /// - Keys: `rebound:{fleet:name}:owner`, who has the outbox, which expires with the lease; and, which do not expire,
  ///   `rebound:{fleet:name}:records`, a list, `rebound:{fleet:name}:latest`, who took the outbox last, and
  ///   `rebound:{fleet:name}:change`, whose the last change was, and its number.
  public final class FleetOutboxStorage: OutboxStorage {
    private let name: String
    private let fleet: Fleet
    private let lease: Duration
    private let keys: [String]
    /// Who has the outbox, if it is this object, and how many changes that one has sent.
    private let owner = Locked<(name: String, changes: Int)?>(nil)

    init(_ name: String, fleet: Fleet, lease: Duration) {
      (self.name, self.fleet, self.lease) = (name, fleet, lease)
      keys = ["owner", "records", "latest", "change"].map { fleet.key(name) + $0 }
    }

    // MARK: The server

    /// Takes the outbox if nobody has it; returns whether it has.
    ///
    /// Arguments: who takes it, and for how many milliseconds.
    static let takeScript = RedisScript(
      """
      if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
      redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
      redis.call('SET', KEYS[3], ARGV[1])
      return 1
      """
    )

    /// Renews the lease, also one that is over, unless somebody else has taken the outbox since, or it was let go of.
    ///
    /// Arguments: who has it, and for how many milliseconds. A server that has forgotten all is told again.
    static let renewalScript = RedisScript(
      """
      local owner = redis.call('GET', KEYS[1]) or redis.call('GET', KEYS[3])
      if owner and owner ~= ARGV[1] then return 0 end
      redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
      redis.call('SET', KEYS[3], ARGV[1])
      return 1
      """
    )

    /// Lets go of the outbox, if it is the caller's: the argument.
    static let releaseScript = RedisScript(
      """
      if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
      if redis.call('GET', KEYS[3]) == ARGV[1] then redis.call('SET', KEYS[3], '') end
      return 1
      """
    )

    /// Adds records behind the others, or puts them in their place, if the outbox is still the caller's.
    ///
    /// Arguments: the caller, the number of its change, whether the others go, and the records. Returns whether it is. It still
    /// is when the lease is over, and nobody has taken it since.
    ///
    /// A change behind a later one is not made: the connection that it was sent over has been given up, and the caller has
    /// replaced all that there is since.
    static let writeScript = RedisScript(
      """
      if (redis.call('GET', KEYS[1]) or redis.call('GET', KEYS[3])) ~= ARGV[1] then return 0 end
      local who, last = string.match(redis.call('GET', KEYS[4]) or '', '^(.*) (%d+)$')
      if who == ARGV[1] and tonumber(last) >= tonumber(ARGV[2]) then return 0 end
      if ARGV[3] == '1' then redis.call('DEL', KEYS[2]) end
      for index = 4, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[index]) end
      redis.call('SET', KEYS[4], ARGV[1] .. ' ' .. ARGV[2])
      return 1
      """
    )

    /// Asks the server, and waits for the answer; an outbox has a thread for that.
    ///
    /// - Parameter late: Gets an answer that came behind the limit, so that what was granted can be given back.
    private func ask(_ command: RedisCommand, late: (@Sendable (RedisReply) -> Void)? = nil) throws -> RedisReply {
      let (answered, box) = (DispatchSemaphore(value: 0), AnswerBox())
      fleet.loop.post(
        RedisRequest(command, limit: fleet.settings.silenceLimit, late: late) { result in
          box.answer.withLock { $0 = result }
          answered.signal()
        }
      )
      answered.wait()
      switch box.answer.withLock({ $0 }) {
      case .success(.error(let text)): throw failure(RedisFailure.answered(text))
      case .success(let reply): return reply
      case .failure(let reason): throw failure(reason)
      case nil: throw failure(RedisFailure.disconnected)
      }
    }

    private func failure(_ reason: RedisFailure) -> OutboxStorageFailure {
      .system("Redis", path: keys[1], reason: "\(reason)")
    }

    // MARK: The storage

    /// Takes hold of the outbox, and reads all records.
    ///
    /// - Throws: `OutboxStorageFailure/inUse(_:)` if another process has it.
    public func open() throws -> OutboxContents {
      fleet.waitUntilJoined()
      let owner = fleet.makeName()
      let late: @Sendable (RedisReply) -> Void = { [self] reply in if reply == .integer(1) { release(owner) } }
      guard try ask(command(Self.takeScript, owner), late: late) == .integer(1) else {
        throw OutboxStorageFailure.inUse(keys[1])
      }
      let records: [Data]
      do { records = try self.records() } catch {
        release(owner)
        throw error
      }
      self.owner.withLock { $0 = (owner, 0) }
      return OutboxContents(records: records)
    }

    private func records() throws -> [Data] {
      guard case .array(let items) = try ask(RedisCommand("LRANGE", keys[1], "0", "-1")) else {
        throw failure(.unexpected("no list"))
      }
      return items.compactMap { item in if case .bytes(let bytes) = item { Data(bytes) } else { nil } }
    }

    private func command(_ script: RedisScript, _ owner: String) -> RedisCommand {
      var command = RedisCommand(script, keys: keys)
      command.add(owner)
      command.add(lease.milliseconds)
      return command
    }

    private func release(_ owner: String) {
      var release = RedisCommand(Self.releaseScript, keys: keys)
      release.add(owner)
      // If this is lost, the lease ends by itself.
      fleet.tell(release)
    }

    /// Adds records behind the others.
    public func append(_ records: [Data], durably: Bool) throws {
      try write(records, replacing: false)
    }

    /// Replaces all records, in one step.
    public func replace(with records: [Data]) throws {
      try write(records, replacing: true)
    }

    private func write(_ records: [Data], replacing: Bool) throws {
      let (owner, number): (String, Int) = try owner.withLock { owner in
        guard let (name, changes) = owner else { throw OutboxStorageFailure.notReady(keys[1]) }
        owner = (name, changes + 1)
        return (name, changes + 1)
      }
      var command = RedisCommand(Self.writeScript, keys: keys)
      command.add(owner)
      command.add(number)
      command.add(replacing ? 1 : 0)
      for record in records { command.add([UInt8](record)) }
      guard try ask(command) == .integer(1) else { throw OutboxStorageFailure.inUse(keys[1]) }
    }

    /// Lets go of the outbox; the records stay.
    public func close() {
      if let (owner, _) = owner.exchange(nil) { release(owner) }
    }
  }

  extension FleetOutboxStorage: Fleet.Member {
    /// Renews the lease.
    func heartbeat() {
      if let (owner, _) = owner.withLock({ $0 }) { fleet.tell(command(Self.renewalScript, owner)) }
    }
  }

  private final class AnswerBox: Sendable {
    let answer = Locked<Result<RedisReply, RedisFailure>?>(nil)
  }

  extension Fleet {
    /// Where the outbox of a fleet keeps its entries: one process has it, and another one takes over when that has died.
    ///
    /// - Parameters:
    ///   - name: What the outbox is called: processes that name the same share it.
    ///   - lease: How long a dead process keeps it; four heartbeats at least.
    /// - Throws: `InvalidPolicy` if the lease is too short, or the name has braces.
    public func outboxStorage(_ name: String, lease: Duration = .seconds(10)) throws(InvalidPolicy)
      -> FleetOutboxStorage
    {
      let shortest = settings.heartbeat * 4
      try PolicyKind.fleet.require("lease", lease, "Give four heartbeats, \(shortest), at least.") {
        $0 >= shortest && $0 <= .longestDelay
      }
      let storage = FleetOutboxStorage(try checked(name, .fleet), fleet: self, lease: lease)
      add(storage)
      return storage
    }
  }
#endif
