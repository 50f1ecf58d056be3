#if Redis
  import Combine
  import Rebound
  import StreamSupport

  /// Lets so many calls of all processes of a fleet run at the same time, and makes some of the others wait.
  ///
  ///     let bulkhead = try fleet.bulkhead("search", policy: try BulkheadPolicy(maxConcurrent: 40, maxQueue: 20))
  ///     let result = try await bulkhead.run { try await client.search(text) }
  ///
  /// It goes where a `Bulkhead` does. A place is leased: a process that dies gives its places back when their lease is
  /// over, and one that lives renews them for as long as its calls run. Those who wait are let in in the order in which
  /// they came to this process; it asks for the first of them whenever one of its calls ends, and again after a while.
  ///
  /// While the fleet is not joined, a process has the share of one instance, but one place at least. A process that cannot
  /// reach the server for longer than a lease may go on with calls whose places are others' by then. With its next heartbeat
  /// they count again; until then more may begin. A server that has forgotten all is told by each process of its places before
  /// it is asked by that one for any; those of a process that reaches it later are free until then.
  ///
  /// - Keys: `rebound:{fleet:name}:places`, a sorted set of the places that are taken, with the moment at which each lease
  ///   is over. It expires with the last one.
  public final class FleetBulkhead: Sendable {
    /// A place that a call has.
    public struct Place: Sendable {
      fileprivate enum Kind: Sendable {
        case leased(String)
        case alone(Bulkhead, Bulkhead.Place)
      }

      fileprivate let kind: Kind
    }

    fileprivate typealias Answer = @Sendable (Result<Place, any Error>) -> Void

    private struct Waiter {
      let number: Int
      let execution: ExecutionContext
      let answer: Answer
      /// When it came, if its wait has a limit.
      let start: Duration?
      /// The wait for a place in this process alone.
      let pending = PendingSteps()
      /// Whether the server has said that no place is free.
      var isQueued = false
      var timer: (any Cancellable)?
    }

    private enum Arrival {
      case asks(Waiter)
      case queues(Waiter)
      case isRefused
    }

    private struct State {
      var twin: LocalTwin<Bulkhead>
      var leases: Set<String> = []
      var waiters: [Waiter] = []
      var lastNumber = 0
      /// How often the server is being asked for a place: at least as often as there are waiters that are not queued.
      var asking = 0
      /// Has those who wait ask again.
      var hasTimer = false
      var timerNumber = 0
      var timer: (any Cancellable)?

      /// Has the first one that is not queued wait until the server is asked again.
      mutating func queueNewcomer(_ events: inout UntoldEvents<BulkheadEvent>) {
        guard let index = waiters.firstIndex(where: { !$0.isQueued }) else { return }
        waiters[index].isQueued = true
        events.append(.queued(waiters.count(where: \.isQueued)))
      }
    }

    /// What it protects, for its errors.
    public let name: String
    private let policy: BulkheadPolicy
    private let lease: Duration
    let fleet: Fleet
    private let key: String
    private let shared: Shared<State, BulkheadEvent>

    /// How long those who wait let the server alone.
    private static let pollInterval = Duration.milliseconds(25)

    init(_ name: String, policy: BulkheadPolicy, lease: Duration, fleet: Fleet) {
      (self.name, self.policy, self.lease, self.fleet) = (name, policy, lease, fleet)
      key = fleet.key(name) + "places"
      let parts = fleet.instances
      let twin = Bulkhead(name, policy: policy.share(ofOneIn: parts))
      shared = Shared(State(twin: LocalTwin(twin, ofOneIn: parts)))
    }

    /// Tells one more observer, also what this process decides alone.
    package func onEvent(to audience: Audience, _ observer: @escaping @Sendable (BulkheadEvent) -> Void) {
      shared.observe(for: audience, observer)
      shared.adjust { state, _ in state.twin.add(to: audience, observer) }.onEvent(to: audience, observer)
    }

    /// Shuts the fast path of the bulkhead of this process alone.
    package func listenerCame() { shared.adjust { state, _ in state.twin.object }.listenerCame() }

    /// What this process holds now: its own calls, and how many all processes may run.
    public var snapshot: Bulkhead.Snapshot {
      shared.read { state in
        let alone = state.twin.object.snapshot
        return Bulkhead.Snapshot(
          running: state.leases.count + alone.running,
          queued: state.waiters.count(where: \.isQueued) + alone.queued,
          limit: policy.maxConcurrent
        )
      }
    }

    /// The bulkhead of this process alone, with its share of the places.
    private func twin() -> Bulkhead {
      let parts = fleet.instances
      let (twin, before) = shared.adjust { state, _ in
        // Those who run still are in no way of those who come: a share is a bound on what begins alone.
        state.twin.ofOneIn(parts) { _ in Bulkhead(name, policy: policy.share(ofOneIn: parts)) }
      }
      withExtendedLifetime(before) {}
      return twin
    }

    // MARK: The server

    /// Takes a place if one is free.
    ///
    /// Arguments: the place, how many there are, and for how many milliseconds it is leased. Returns whether it is taken.
    static let script = RedisScript(
      """
      local time = redis.call('TIME')
      local now = time[1] * 1000 + math.floor(time[2] / 1000)
      \(FleetScripts.expiring(3))
      if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
      redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
      \(FleetScripts.staying(3))
      return 1
      """
    )

    /// Renews the leases of calls that run, also those that are over, or that the server has forgotten.
    ///
    /// Arguments: for how many milliseconds, and the places.
    static let renewalScript = RedisScript(
      """
      local time = redis.call('TIME')
      local now = time[1] * 1000 + math.floor(time[2] / 1000)
      \(FleetScripts.expiring(1))
      for index = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[index]) end
      \(FleetScripts.staying(1))
      return #ARGV - 1
      """
    )

    /// Asks the server for a place: for whoever is first when it comes.
    private func askServer() {
      let place = fleet.makeName()
      var command = RedisCommand(Self.script, keys: [key])
      command.add(place)
      command.add(policy.maxConcurrent)
      command.add(lease.milliseconds)
      fleet.ask(command, late: { [self] _ in giveBack(place) }) { [self] reply in
        switch reply?.integer {
        case 1: granted(place)
        case 0: refused()
        default:
          if let reply { fleet.distrust(reply) }
          goOnAlone()
        }
      }
    }

    /// Asks again for those who wait, unless that is under way.
    private func askForQueued() {
      let isToAsk: Bool = shared.adjust { state, _ in
        guard state.asking == 0, state.waiters.contains(where: \.isQueued) else { return false }
        state.asking += 1
        return true
      }
      if isToAsk { askServer() }
    }

    private func giveBack(_ place: String) {
      fleet.tell(RedisCommand("ZREM", key, place))
    }

    private func granted(_ place: String) {
      let waiter: Waiter? = shared.change { state, events in
        state.asking -= 1
        guard !state.waiters.isEmpty else { return nil }
        let waiter = state.waiters.removeFirst()
        state.leases.insert(place)
        events.append(.admitted(running: state.leases.count, limit: policy.maxConcurrent))
        // One who has come since had asked for the place, and gets no answer any more: it waits in the other one's stead.
        if waiter.isQueued, state.waiters.count(where: { !$0.isQueued }) > state.asking { state.queueNewcomer(&events) }
        return waiter
      }
      guard let waiter else { return giveBack(place) }
      waiter.timer?.cancel()
      waiter.execution.resume { [answer = waiter.answer] in answer(.success(Place(kind: .leased(place)))) }
      askForQueued()
    }

    /// No place is free: one who has just come waits, if it may.
    private func refused() {
      let turnedAway: Waiter? = shared.change { state, events in
        state.asking -= 1
        guard let index = state.waiters.firstIndex(where: { !$0.isQueued }) else { return nil }
        let queued = state.waiters.count(where: \.isQueued)
        guard queued < policy.maxQueue else {
          events.append(.rejected(queued: queued, limit: policy.maxConcurrent))
          return state.waiters.remove(at: index)
        }
        state.queueNewcomer(&events)
        return nil
      }
      if let turnedAway {
        turnedAway.timer?.cancel()
        turnedAway.execution.resume { [self, answer = turnedAway.answer] in answer(.failure(refusal())) }
      }
      setTimer()
    }

    /// Has those who wait ask again after a while.
    private func setTimer() {
      let armed: (TimeSource, Int)? = shared.adjust { state, _ in
        guard !state.hasTimer, let first = state.waiters.first(where: \.isQueued) else { return nil }
        state.hasTimer = true
        state.timerNumber += 1
        return (first.execution.time, state.timerNumber)
      }
      guard let (time, number) = armed else { return }
      let timer = time.after(Self.pollInterval) { [weak self] in
        guard let self else { return }
        let timer = shared.adjust { state, _ in
          state.hasTimer = false
          defer { state.timer = nil }
          return state.timer
        }
        withExtendedLifetime(timer) {}
        askForQueued()
      }
      shared.adjust { state, _ in
        // It may have rung, and another one be set.
        if state.hasTimer, state.timerNumber == number { state.timer = timer }
      }
    }

    /// The server does not decide: those who wait ask the bulkhead of this process.
    private func goOnAlone() {
      let waiters = shared.adjust { state, _ in
        state.asking -= 1
        let waiters = state.waiters
        state.waiters = []
        return waiters
      }
      for waiter in waiters {
        waiter.timer?.cancel()
        let (execution, answer, start, pending) = (waiter.execution, waiter.answer, waiter.start, waiter.pending)
        execution.resume { [self] in pending.begin(askAlone(execution, since: start, answer)) }
      }
    }

    /// - Parameter start: When the call came, if it has waited for the server; that is a part of its longest wait.
    private func askAlone(
      _ execution: ExecutionContext,
      since start: Duration? = nil,
      _ answer: @escaping Answer
    ) -> (any Cancellable)? {
      let twin = twin()
      return twin.ask(execution, waited: start.map { max(execution.time.now - $0, .zero) } ?? .zero) { result in
        answer(result.map { Place(kind: .alone(twin, $0)) })
      }
    }

    private func abandon(_ number: Int, timedOut: Bool) {
      let waiter: Waiter? = shared.change { state, events in
        guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
        let waiter = state.waiters.remove(at: index)
        let queued = state.waiters.count(where: \.isQueued)
        events.append(timedOut ? .timedOut(queued: queued) : .abandoned(queued: queued))
        return waiter
      }
      guard let waiter else { return }
      if timedOut { waiter.answer(.failure(refusal(waited: policy.maxWait))) } else { waiter.timer?.cancel() }
    }

    private func refusal(waited: Duration? = nil) -> BulkheadFull {
      let queued = shared.read { $0.waiters.count(where: \.isQueued) }
      return BulkheadFull(name: name, limit: policy.maxConcurrent, queued: queued, waited: waited)
    }
  }

  extension FleetBulkhead: Fleet.Member {
    /// Renews the leases of the calls that run.
    func heartbeat() {
      let leases = shared.read { $0.leases }
      guard !leases.isEmpty else { return }
      var command = RedisCommand(Self.renewalScript, keys: [key])
      command.add(lease.milliseconds)
      for place in leases { command.add(place) }
      fleet.tell(command)
      // One that has ended meanwhile may have been given back before that, and would be taken for a whole lease.
      for place in leases.subtracting(shared.read { $0.leases }) { giveBack(place) }
    }
  }

  extension FleetBulkhead: AdmissionControl, Policy {
    /// Asks the server for a place.
    public func ask(
      _ execution: ExecutionContext,
      _ answer: @escaping @Sendable (Result<Place, any Error>) -> Void
    ) -> (any Cancellable)? {
      guard fleet.isJoined else { return askAlone(execution, answer) }
      let start = policy.maxWait.map { _ in execution.time.now }
      let arrival: Arrival = shared.change { state, events in
        state.lastNumber += 1
        var waiter = Waiter(number: state.lastNumber, execution: execution, answer: answer, start: start)
        let queued = state.waiters.count(where: \.isQueued)
        guard queued > 0 else {
          state.asking += 1
          state.waiters.append(waiter)
          return .asks(waiter)
        }
        guard queued < policy.maxQueue else {
          events.append(.rejected(queued: queued, limit: policy.maxConcurrent))
          return .isRefused
        }
        waiter.isQueued = true
        events.append(.queued(queued + 1))
        state.waiters.append(waiter)
        return .queues(waiter)
      }
      let waiter: Waiter
      switch arrival {
      case .isRefused:
        answer(.failure(refusal()))
        return nil
      case .asks(let new):
        waiter = new
        askServer()
      case .queues(let new): waiter = new
      }
      let (number, pending) = (waiter.number, waiter.pending)
      if let maxWait = policy.maxWait {
        let timer = execution.time.after(maxWait) { [weak self] in self?.abandon(number, timedOut: true) }
        let isWaiting: Bool = shared.adjust { state, _ in
          guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return false }
          state.waiters[index].timer = timer
          return true
        }
        if !isWaiting { timer.cancel() }
      }
      return AnyCancellable { [weak self] in
        self?.abandon(number, timedOut: false)
        pending.cancel()
      }
    }

    /// Gives the place to the next one.
    public func settle(_ place: Place, _ end: ExecutionEnd, _ execution: ExecutionContext) {
      switch place.kind {
      case .alone(let twin, let place): twin.settle(place, end, execution)
      case .leased(let name):
        shared.change { state, events in
          state.leases.remove(name)
          events.append(.released(running: state.leases.count))
        }
        giveBack(name)
        askForQueued()
      }
    }
  }
#endif
