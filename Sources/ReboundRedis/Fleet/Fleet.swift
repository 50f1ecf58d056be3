#if Redis
  import Combine
  import Rebound
  import StreamSupport

  /// Policies that many processes share, through a server of Redis or Valkey.
  ///
  ///     let fleet = try Fleet("shop", at: .tcp("10.0.0.7"), instances: 10)
  ///     let weather = try Pipeline<Forecast>("weather") {
  ///       try fleet.rateLimiter("weather", policy: .tokenBucket(1_000, per: .seconds(1), burst: 10))
  ///       Retry(.standard, budget: try fleet.budget("weather", ratio: 0.1))
  ///       try fleet.circuitBreaker("weather", policy: .consecutive(5))
  ///     }
  ///
  /// Each process makes one fleet, and its policies of it. The server decides, in one round trip and by its own clock, as
  /// long as it answers within ``FleetSettings/bound``. If it does not, or answers nonsense, the process decides by itself
  /// at once, with the share of one instance, says so (``FleetEvent/fellBack(_:)``), and asks the server again and again
  /// until it answers in time (``FleetEvent/joined(instances:after:)``). What it refuses to one policy while it answers all
  /// else, that policy decides by itself (``FleetEvent/refused(_:)``).
  ///
  /// All commands go over one connection, carried by a thread of its own.
  ///
  /// - Keys: `rebound:{fleet}:members`, a sorted set of the members with the moment at which each is given up; it expires
  ///   with the last one. `rebound:{fleet}:peak`, how many they were at most; it expires ``FleetSettings/peakMemory`` after
  ///   there were as many. The keys of each policy are `rebound:{fleet:name}:…`: what one script touches is in one hash slot. A
  ///   colon in the name of the fleet or the policy is `%3A` there, and a `%` is `%25`.
  public final class Fleet: Sendable {
    /// What takes part in the heartbeat of a fleet.
    protocol Member: AnyObject, Sendable {
      /// The server has answered a heartbeat.
      func heartbeat()
    }

    private struct WeakMember {
      weak var member: (any Member)?
    }

    private struct State {
      /// `nil` while the server decides.
      var aloneSince: Duration?
      /// The kinds of reasons that were told since then, or since the server decides.
      var told: Set<Int?> = []
      var instances: Int
      /// How many there were at most of late.
      var electorate: Int
      var members: [WeakMember] = []
      var timer: (any Cancellable)?
      var timerNumber = 0
      var isBeating = false
      /// What a server that takes no changes has said to a heartbeat: the address may lead to another one by now.
      var replica: RedisFailure?
      /// Why no other connection is made, if none is.
      var gaveUp: RedisFailure?
      var hasLeft = false
    }

    /// What the fleet is called; the same in all of its processes.
    public let name: String
    /// What this process is called among the members.
    let member: String
    let settings: FleetSettings
    let time: TimeSource
    let loop: RedisLoop
    let votes = MemberVotes()
    private let beat: RedisCommand
    private let shared: Shared<State, FleetEvent>
    /// Those who wait until the server decides.
    private let undecided = WaitingThreads()
    /// 1 while the server decides; read without the lock, by each decision.
    private let mode = AtomicWord()
    private let lastNumber = Locked(0)

    /// Joins a fleet; until the server answers, each policy goes by itself.
    ///
    /// - Parameters:
    ///   - name: What the fleet is called; without braces.
    ///   - address: Where the server is.
    ///   - instances: How many processes there are, as long as the server has not said it: what a process lets through by
    ///     itself is the share of one.
    ///   - settings: How long decisions wait for the server, and so on.
    ///   - time: Times heartbeats and waits.
    /// - Throws: `InvalidPolicy`, with the number that makes no sense.
    public convenience init(
      _ name: String,
      at address: RedisAddress,
      instances: Int,
      settings: FleetSettings = .standard,
      time: TimeSource = .current
    ) throws(InvalidPolicy) {
      try settings.validate()
      try PolicyKind.fleet.require("instances", instances, "Give at least 1.") { (1...1_000_000).contains($0) }
      try PolicyKind.fleet.require("name", name, "Give one without braces.") {
        !$0.isEmpty && !$0.contains { "{}".contains($0) }
      }
      let member = String(UInt64.random(in: 0 ... .max), radix: 36)
      self.init(name: name, member: member, address: address, instances: instances, settings: settings, time: time)
      loop.start()
      startBeating(after: .zero)
    }

    private init(
      name: String,
      member: String,
      address: RedisAddress,
      instances: Int,
      settings: FleetSettings,
      time: TimeSource
    ) {
      (self.name, self.member, self.settings, self.time) = (name, member, settings, time)
      let shared = Shared<State, FleetEvent>(State(aloneSince: time.now, instances: instances, electorate: instances))
      self.shared = shared
      var beat = RedisCommand(FleetScripts.beat, keys: [Fleet.membersKey(name), Fleet.peakKey(name)])
      beat.add(member)
      beat.add((settings.heartbeat * 3).milliseconds)
      beat.add(settings.peakMemory.milliseconds)
      self.beat = beat
      let relay = StatusRelay()
      loop = RedisLoop(
        RedisLoop.Settings(
          address: address,
          connectLimit: settings.connectLimit,
          silenceLimit: settings.silenceLimit,
          maxWaiting: settings.maxWaiting,
          reconnect: settings.reconnect,
          scripts: FleetScripts.all
        )
      ) { relay.tell($0) }
      relay.fleet.withLock { $0 = WeakFleet(fleet: self) }
    }

    deinit {
      shared.adjust { state, _ in state.timer }?.cancel()
      loop.close()
    }

    /// Tells one more observer when the server decides, and when not, in order, with no lock held.
    ///
    /// - Parameter observer: Must not wait: it may be called on the thread of the connection.
    @discardableResult
    public func onEvent(_ observer: @escaping @Sendable (FleetEvent) -> Void) -> Fleet {
      shared.observe(observer)
      shared.change { state, events in
        // The first connection may have failed before there was anybody to tell; the next one that fails is told, if there is
        // one.
        state.told = []
        if let reason = state.gaveUp, !state.hasLeft { events.append(.gaveUp(reason)) }
      }
      return self
    }

    /// Whether the server decides now; if not, each policy goes by itself.
    public var isJoined: Bool { mode.value == 1 }

    /// How many processes there are, as far as is known.
    public var instances: Int { shared.read { $0.instances } }

    /// Of how many processes a quorum is taken: as many as there were of late, also such as the server hears no more of.
    ///
    /// Of the living alone it would be taken of fewer and fewer while the network between members and server breaks, until
    /// a few with another broken network speak for all.
    var electorate: Int { shared.read { $0.electorate } }

    /// A name that nothing else of any fleet has.
    func makeName() -> String { "\(member):\(nextNumber())" }

    private func nextNumber() -> Int {
      lastNumber.withLock { number in
        number += 1
        return number
      }
    }

    /// Has a policy take part in the heartbeat.
    func add(_ member: any Member) {
      shared.adjust { state, _ in
        state.members.removeAll { $0.member == nil }
        state.members.append(WeakMember(member: member))
      }
    }

    // MARK: Decisions

    /// Asks the server.
    ///
    /// - Parameters:
    ///   - command: What to ask.
    ///   - whileAlone: Whether to ask also while the member decides by itself.
    ///   - late: Gets an answer that came behind the bound, so that what was granted can be given back.
    ///   - answer: Called once; gets `nil` if the member is to decide by itself. It must not wait.
    func ask(
      _ command: RedisCommand,
      whileAlone: Bool = false,
      late: (@Sendable (RedisReply) -> Void)? = nil,
      _ answer: @escaping @Sendable (RedisReply?) -> Void
    ) {
      guard isJoined || whileAlone else { return answer(nil) }
      loop.post(
        RedisRequest(command, limit: settings.bound, late: late) { [weak self] outcome in
          answer(self?.answer(of: outcome))
        }
      )
    }

    /// What came of a question; `nil` if that is of no use.
    func answer(of outcome: RedisRequest.Outcome) -> RedisReply? {
      switch outcome {
      case .success(.error(let text)):
        refused(.answered(text))
        return nil
      case .success(let reply): return reply
      case .failure(let failure):
        fallBack(failure)
        return nil
      }
    }

    /// Tells the server something whose answer does not matter, such as what is given back: also while it does not decide.
    func tell(_ command: RedisCommand) {
      loop.post(
        RedisRequest(command, limit: settings.bound) { [weak self] outcome in _ = self?.answer(of: outcome) }
      )
    }

    /// The server has answered with something that makes no sense.
    ///
    /// One answer too many would make each later one that of another question, so the connection is made anew.
    func distrust(_ reply: RedisReply) {
      let reason = RedisFailure.unexpected("\(reply)")
      fallBack(reason)
      loop.reconnect(reason)
    }

    /// The server has refused one command, and may answer all others.
    private func refused(_ reason: RedisFailure) {
      let isNew: Bool = shared.change { state, events in
        guard !state.hasLeft, state.told.insert(reason.kind).inserted else { return false }
        let decides = state.aloneSince == nil
        events.append(decides ? .refused(reason) : .fellBack(reason))
        return decides
      }
      // It may refuse all, and an answer too many may look like this: a heartbeat finds out.
      if isNew { startBeating(after: .zero) }
    }

    private func fallBack(_ reason: RedisFailure) {
      let now = time.now
      let isNew: Bool = shared.change { state, events in
        guard !state.hasLeft else { return false }
        let isNew = state.aloneSince == nil
        if isNew { state.told = [] }
        // While it is alone, only another reason is news, and that there is no connection is none.
        guard isNew || reason.kind != nil, state.told.insert(reason.kind).inserted else { return false }
        if isNew {
          state.aloneSince = now
          mode.set(0)
        }
        events.append(.fellBack(reason))
        return isNew
      }
      // Whoever was slow only once is back at once.
      if isNew { startBeating(after: .zero) }
    }

    /// Has a thread wait until the server decides, for as long as it may take to connect; not if it never will.
    func waitUntilJoined() {
      undecided.wait(atMost: settings.connectLimit) {
        shared.adjust { state, _ in state.aloneSince != nil && !state.hasLeft && state.gaveUp == nil }
      }
    }

    // MARK: The end

    /// Leaves the fleet for good, so that this member's share goes to the others with their next heartbeat; without this
    /// it does after three heartbeats that never came.
    ///
    /// From then on each policy goes by itself, with the share of one instance, and there is no connection any more: what
    /// is granted and not given back yet comes back with its lease. So call it when the calls of this process have ended.
    /// Nothing happens the second time.
    ///
    /// Returns when the server knows, or after ``FleetSettings/bound``.
    public nonisolated(nonsending) func leave() async {
      let now = time.now
      let (isFirst, timer): (Bool, (any Cancellable)?) = shared.change { state, events in
        guard !state.hasLeft else { return (false, nil) }
        state.hasLeft = true
        state.aloneSince = state.aloneSince ?? now
        // A timer that is being made now is not the current one.
        state.timerNumber += 1
        mode.set(0)
        events.append(.left)
        defer { state.timer = nil }
        return (true, state.timer)
      }
      guard isFirst else { return }
      timer?.cancel()
      undecided.wakeAll()
      // One that is not heard is forgotten like one that has died.
      _ = await loop.send(RedisCommand("ZREM", Fleet.membersKey(name), member), limit: settings.bound)
      loop.close()
    }

    // MARK: Heartbeats

    fileprivate func heard(_ status: RedisLoop.Status) {
      switch status {
      case .ready:
        // What the server behind the connection before has said is no reason to leave this one.
        shared.adjust { state, _ in state.replica = nil }
        startBeating(after: .zero)
      case .lost(let reason): fallBack(reason)
      case .gaveUp(let reason):
        fallBack(reason)
        shared.change { state, events in
          state.gaveUp = reason
          events.append(.gaveUp(reason))
        }
        undecided.wakeAll()
      }
    }

    private func startBeating(after delay: Duration) {
      let start: (number: Int, before: (any Cancellable)?)? = shared.adjust { state, _ in
        guard !state.hasLeft else { return nil }
        state.timerNumber += 1
        defer { state.timer = nil }
        return (state.timerNumber, state.timer)
      }
      guard let (number, before) = start else { return }
      before?.cancel()
      let timer = time.after(delay) { [weak self] in self?.beatOnce() }
      let isCurrent = shared.adjust { state, _ in
        // The beat may have come and gone, and another one be on its way.
        guard state.timerNumber == number else { return false }
        state.timer = timer
        return true
      }
      if !isCurrent { timer.cancel() }
    }

    private func beatOnce() {
      let (isFree, replica): (Bool, RedisFailure?) = shared.adjust { state, _ in
        guard !state.isBeating, !state.hasLeft else { return (false, nil) }
        defer { state.replica = nil }
        state.isBeating = state.replica == nil
        return (true, state.replica)
      }
      guard isFree else { return }
      if let replica {
        // Whoever falls back by that answer comes here at once, and whoever is alone already after a pause: the new
        // connection may lead to the same server, and has none before it.
        startBeating(after: settings.probeInterval)
        return loop.reconnect(replica)
      }
      let number = nextNumber()
      var command = beat
      command.add(number)
      let late: @Sendable (RedisReply) -> Void = { [weak self] reply in
        // An answer too few on the way, and each one is late by one question from then on.
        if !reply.isError, FleetCount(reply, to: number) == nil { self?.distrust(reply) }
      }
      loop.post(
        RedisRequest(command, limit: settings.bound, late: late) { [weak self] result in self?.beaten(number, result) }
      )
    }

    private func beaten(_ number: Int, _ result: Result<RedisReply, RedisFailure>) {
      switch result {
      case .success(let reply):
        if let count = FleetCount(reply, to: number) { return counted(count) }
        guard case .error(let text) = reply else {
          endBeat()
          return distrust(reply)
        }
        let reason = RedisFailure.answered(text)
        endBeat(replica: reason.isOfReplica ? reason : nil)
        fallBack(reason)
      case .failure(let failure):
        endBeat()
        fallBack(failure)
      }
    }

    private func counted(_ count: FleetCount) {
      let now = time.now
      let members: [any Member] = shared.adjust { state, _ in
        state.isBeating = false
        guard !state.hasLeft else { return [] }
        (state.instances, state.electorate) = (count.living, count.peak)
        return state.members.compactMap(\.member)
      }
      // A server that has forgotten all hears what this member holds before it is asked for more.
      for member in members { member.heartbeat() }
      shared.change { state, events in
        guard !state.hasLeft, let since = state.aloneSince else { return }
        (state.aloneSince, state.told) = (nil, [])
        mode.set(1)
        events.append(.joined(instances: count.living, after: now - since))
      }
      undecided.wakeAll()
      startBeating(after: settings.heartbeat)
    }

    private func endBeat(replica: RedisFailure? = nil) {
      shared.adjust { state, _ in (state.isBeating, state.replica) = (false, replica) }
      startBeating(after: settings.probeInterval)
    }
  }

  private struct WeakFleet {
    weak var fleet: Fleet?
  }

  /// Hands what a connection tells to the fleet, which is made after it.
  private final class StatusRelay: Sendable {
    let fleet = Locked(WeakFleet())

    func tell(_ status: RedisLoop.Status) {
      let fleet = fleet.withLock { $0.fleet }
      fleet?.heard(status)
    }
  }
#endif
