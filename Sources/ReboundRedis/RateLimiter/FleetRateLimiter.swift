#if Redis
  import Combine
  import Rebound
  import StreamSupport

  /// Lets so many calls of all processes of a fleet begin in a time, and makes some of the others wait.
  ///
  ///     let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(1_000, per: .seconds(1), burst: 1))
  ///     let result = try await limiter.run { try await client.search(text) }
  ///
  /// It goes where a `RateLimiter` does. A call that waits has its moment reserved by the server, so calls of all
  /// processes begin in the order in which they asked; a reservation is not given back if the call is cancelled. When the
  /// service itself asks for a pause, all processes keep it.
  ///
  /// While the fleet is not joined, a process lets through the share of one instance: the same policy, as many times
  /// slower as there are instances.
  ///
  /// - Keys: `rebound:{fleet:name}:rate` and `rebound:{fleet:name}:pause`, one number each: when the bucket is full again, and
  ///   when the pause is over that the service has asked for, in microseconds. They expire then.
  ///
  /// Source: the generic cell rate algorithm (ITU-T I.371, virtual scheduling).
  public final class FleetRateLimiter: Sendable {
    private struct State {
      var twin: RateLimiter
      /// Of how many instances the twin is one.
      var parts: Int
      var queued = 0
      var observers: [@Sendable (RateLimiterEvent) -> Void] = []
    }

    /// What it protects, for its errors.
    public let name: String
    private let policy: RateLimiterPolicy
    private let isThrottling: @Sendable (any Error) -> Bool
    private let fleet: Fleet
    private let keys: [String]
    /// All that a decision takes is known before.
    private let command: RedisCommand
    private let shared: Shared<State, RateLimiterEvent>
    /// 1 once somebody listens; read without the lock, by each decision.
    private let isListened = AtomicWord()

    init(
      _ name: String,
      policy: RateLimiterPolicy,
      fleet: Fleet,
      throttledWhen isThrottling: @escaping @Sendable (any Error) -> Bool
    ) throws(InvalidPolicy) {
      guard case .bucket(let burst) = policy.meter else {
        throw InvalidPolicy(.rateLimiter, "the policy", "a window", "Give a token bucket; a fleet has no windows.")
      }
      (self.name, self.policy, self.fleet, self.isThrottling) = (name, policy, fleet, isThrottling)
      keys = [fleet.key(name) + "rate", fleet.key(name) + "pause"]
      var command = RedisCommand(Self.script, keys: keys)
      let interval = policy.period.inSeconds * 1e6 / Double(policy.permits)
      command.add("\(interval)")
      command.add("\(interval * Double(burst - 1))")
      command.add("\(policy.maxWait.inSeconds * 1e6)")
      self.command = command
      let parts = fleet.instances
      let twin = RateLimiter(name, policy: policy.share(ofOneIn: parts), throttledWhen: isThrottling)
      shared = Shared(State(twin: twin, parts: parts))
    }

    /// Tells one more observer what is decided here, in order, with no lock held.
    @discardableResult
    public func onEvent(_ observer: @escaping @Sendable (RateLimiterEvent) -> Void) -> FleetRateLimiter {
      shared.observe(observer)
      isListened.set(1)
      let twin = shared.adjust { state, _ in
        state.observers.append(observer)
        return state.twin
      }
      twin.onEvent(observer)
      return self
    }

    /// The limiter of this process alone, with its share of the rate.
    private func twin() -> RateLimiter {
      let parts = fleet.instances
      let known: RateLimiter? = shared.adjust { state, _ in state.parts == parts ? state.twin : nil }
      if let known { return known }
      let twin = RateLimiter(name, policy: policy.share(ofOneIn: parts), throttledWhen: isThrottling)
      let observers = shared.adjust { state, _ in state.observers }
      for observer in observers { twin.onEvent(observer) }
      return shared.adjust { state, _ in
        // Another thread may have been first.
        if state.parts != parts { (state.twin, state.parts) = (twin, parts) }
        return state.twin
      }
    }

    /// The service has said that there were too many calls; no process begins one for so long.
    ///
    /// - Parameters:
    ///   - pause: For how long it wants none.
    ///   - now: The present, on the time of the execution.
    public func throttle(pause: Duration? = nil, at now: Duration = TimeSource.current.now) {
      twin().throttle(pause: pause, at: now)
      tell(pause: pause)
    }

    private func tell(pause: Duration?) {
      guard let pause, pause > .zero else { return }
      var command = RedisCommand(Self.pauseScript, keys: [keys[1]])
      command.add("\(min(pause.clampedToDelay.inSeconds, 86_400) * 1e6)")
      fleet.tell(command)
    }

    // MARK: The server

    /// Moves the moment at which the bucket is full again, if a call may begin now or within its wait.
    ///
    /// A pause takes nothing out of the bucket, which is filled meanwhile.
    ///
    /// Arguments: the interval between two calls, how far a burst may be ahead, and the longest wait, in microseconds.
    /// Returns zero if the call begins, how long it waits, or, below zero, how long it would have to.
    package static let script = RedisScript(
      """
      local time = redis.call('TIME')
      local now = time[1] * 1000000 + time[2]
      local full = tonumber(redis.call('GET', KEYS[1]) or now)
      local begin = math.max(tonumber(redis.call('GET', KEYS[2]) or now), now, full - ARGV[2])
      local wait = begin - now
      if wait > tonumber(ARGV[3]) then return -math.ceil(wait) end
      full = math.max(full, begin) + ARGV[1]
      redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.max(math.ceil((full - now) / 1000), 1))
      if wait > 0 then return math.ceil(wait) end
      return 0
      """
    )

    /// Argument: for how many microseconds nobody begins.
    static let pauseScript = RedisScript(
      """
      local time = redis.call('TIME')
      local paused = time[1] * 1000000 + time[2] + ARGV[1]
      if tonumber(redis.call('GET', KEYS[1]) or 0) >= paused then return 0 end
      redis.call('SET', KEYS[1], string.format('%.3f', paused), 'PX', math.max(math.ceil(ARGV[1] / 1000), 1))
      return 1
      """
    )

    private enum Verdict {
      case begins
      case waits(Duration)
      case refused(RateLimited)
    }

    /// The wait in an answer; `nil`, also if it makes no sense: nobody waits for longer than the policy says.
    private func wait(in reply: RedisReply?) -> Int? {
      guard let reply else { return nil }
      let longest = Int((policy.maxWait.inSeconds * 1e6).rounded(.up))
      guard let wait = reply.integer, wait > .min, wait <= longest else {
        fleet.distrust(reply)
        return nil
      }
      return wait
    }

    /// What the server has said, told to whoever listens.
    private func verdict(_ wait: Int) -> Verdict {
      if wait == 0 {
        if isListened.value == 1 { tell { _ in .admitted } }
        return .begins
      }
      let length = Duration.microseconds(abs(wait))
      guard wait > 0 else {
        let queued = tell { _ in .rejected(retryAfter: length) }
        return .refused(RateLimited(name: name, retryAfter: length, queueLength: queued))
      }
      tell { queued in
        queued += 1
        return .queued(wait: length, queued: queued)
      }
      return .waits(length)
    }

    private func waitEnds(abandoned: Bool) {
      tell { queued in
        queued -= 1
        return abandoned ? .abandoned(queued: queued) : .admittedAfterWait(queued: queued)
      }
    }

    private func decide(
      _ wait: Int,
      _ execution: ExecutionContext,
      _ pending: PendingSteps,
      _ answer: @escaping @Sendable (Result<Duration, any Error>) -> Void
    ) {
      switch verdict(wait) {
      case .begins: answer(.success(execution.now))
      case .refused(let error): answer(.failure(error))
      case .waits(let length):
        let isOver = Locked(false)
        let timer = execution.time.after(length) { [self] in
          guard !isOver.exchange(true) else { return }
          waitEnds(abandoned: false)
          answer(.success(execution.now))
        }
        pending.begin(
          AnyCancellable { [self] in
            timer.cancel()
            if !isOver.exchange(true) { waitEnds(abandoned: true) }
          }
        )
      }
    }

    @discardableResult
    private func tell(_ body: (inout Int) -> RateLimiterEvent) -> Int {
      shared.change { state, events in
        events.append(body(&state.queued))
        return state.queued
      }
    }
  }

  extension FleetRateLimiter: AdmissionControl, Policy {
    /// Lets a call begin if it may begin now, and nobody listens; the server is always asked.
    public func admitAtOnce(_ execution: ExecutionContext) -> Duration? {
      fleet.isJoined ? nil : twin().admitAtOnce(execution)
    }

    /// Lets a call begin if it may begin now, and nobody listens; the server is always asked.
    public func admitAtOnce(_ execution: ExecutionContext, _ moment: inout Duration?) -> Duration? {
      fleet.isJoined ? nil : twin().admitAtOnce(execution, &moment)
    }

    /// Asks the server to begin.
    public func ask(
      _ execution: ExecutionContext,
      at moment: Duration?,
      _ answer: @escaping @Sendable (Result<Duration, any Error>) -> Void
    ) -> (any Cancellable)? {
      fleet.isJoined ? ask(execution, answer) : twin().ask(execution, at: moment, answer)
    }

    /// Asks the server to begin.
    public func ask(
      _ execution: ExecutionContext,
      _ answer: @escaping @Sendable (Result<Duration, any Error>) -> Void
    ) -> (any Cancellable)? {
      guard fleet.isJoined else { return twin().ask(execution, answer) }
      let pending = PendingSteps()
      fleet.ask(command) { [self] reply in
        execution.resume { [self] in
          guard !pending.isCancelled else { return }
          if let wait = wait(in: reply) { return decide(wait, execution, pending, answer) }
          pending.begin(twin().ask(execution, answer))
        }
      }
      return pending
    }

    /// Runs an asynchronous function as soon as a call may begin.
    ///
    /// See `run(time:_:)` of `Policy`.
    ///
    /// - Parameters:
    ///   - time: Measures time and waits.
    ///   - operation: The call.
    /// - Throws: `RateLimited` if it may not begin in time; what the function throws; `CancellationError` if the
    ///   task is cancelled before it begins.
    @inlinable
    public nonisolated(nonsending) func run<Value>(
      time: TimeSource? = nil,
      _ operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
      try await run(ExecutionContext(time: time), operation)
    }

    /// Runs a call of a pipeline as soon as it may begin.
    @inlinable
    public nonisolated(nonsending) func execute<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call)
      async throws -> Call.Output
    where Call.Failure == any Error {
      try await run(execution) { try await call() }
    }

    /// As ``AdmissionMachine`` does it, but with one wait of the task for the server's answer, and nothing between the two.
    @inlinable @inline(__always)
    nonisolated(nonsending) func run<Value>(
      _ execution: ExecutionContext,
      _ operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
      let begun = try await begin(execution)
      do {
        return try await operation()
      } catch {
        let isCancelled = Task.isCancelled || error is CancellationError
        settle(begun, isCancelled ? .cancelled : .failed(error), execution)
        throw error
      }
    }

    @usableFromInline
    nonisolated(nonsending) func begin(_ execution: ExecutionContext) async throws -> Duration {
      let reply = try await fleet.askUntilCancelled(command)
      guard let wait = wait(in: reply) else {
        let twin = twin()
        var moment: Duration?
        if let begun = twin.admitAtOnce(execution, &moment) { return begun }
        return try await Answer.wait { [moment] in twin.ask(execution, at: moment, $0) }
      }
      switch verdict(wait) {
      case .begins: break
      case .refused(let error): throw error
      case .waits(let length):
        do { try await execution.time.sleep(for: length) } catch {
          waitEnds(abandoned: true)
          throw error
        }
        waitEnds(abandoned: false)
      }
      return execution.now
    }

    /// Learns from how the call has ended that began at this moment.
    public func settle(_ begun: Duration, _ end: ExecutionEnd, _ execution: ExecutionContext) {
      guard case .failed(let error) = end, isThrottling(error) else { return }
      twin().settle(begun, end, execution)
      tell(pause: (error as? any RetryAfterProviding)?.retryAfter)
    }

    /// Its name.
    public var descriptor: StageDescriptor { StageDescriptor(.rateLimiter, name: name) }

    /// One call must not ask it twice.
    public var traits: StageTraits { StageTraits(descriptor: descriptor, sharedObject: self) }

    /// Lets its events, and those of the fleet, be seen.
    public func register(with events: PolicyEvents?, pipeline: String) {
      events?.watch(self)
      events?.watch(fleet)
    }
  }

  extension FleetRateLimiter: PolicyObservable {
    /// That of rate limiters.
    public static var kind: PolicyKind { .rateLimiter }

    /// Tells one more observer what is decided here.
    public func onDecision(_ observer: @escaping @Sendable (any PolicyDecision) -> Void) {
      onEvent { observer($0) }
    }
  }

  extension Fleet {
    /// A limit for the rate of the calls of all processes.
    ///
    /// - Parameters:
    ///   - name: What it protects: processes that name the same share it.
    ///   - policy: How many calls may begin in a time; a token bucket. With a burst of one, calls are an interval apart.
    ///   - isThrottling: Which errors say that the service was called too often; those that ask for a pause
    ///     (`RetryAfterProviding`) and are no refusal of this program's own unless told otherwise.
    /// - Throws: `InvalidPolicy` if the policy is no token bucket, or the name has braces.
    public func rateLimiter(
      _ name: String,
      policy: RateLimiterPolicy,
      throttledWhen isThrottling: @escaping @Sendable (any Error) -> Bool = {
        guard let error = $0 as? any RetryAfterProviding else { return false }
        return error.retryAfter != nil && !error.isRefusal
      }
    ) throws(InvalidPolicy) -> FleetRateLimiter {
      try FleetRateLimiter(checked(name, .rateLimiter), policy: policy, fleet: self, throttledWhen: isThrottling)
    }

    /// Refuses a name that would break the keys.
    func checked(_ name: String, _ kind: PolicyKind) throws(InvalidPolicy) -> String {
      try kind.require("name", name, "Give one without braces.") { !$0.isEmpty && !$0.contains { "{}".contains($0) } }
      return name
    }
  }

  extension RateLimiterPolicy {
    /// The same policy for one of so many instances: as many times slower, with as small a part of the burst.
    func share(ofOneIn instances: Int) -> RateLimiterPolicy {
      guard case .bucket(let burst) = meter else { return self }
      let longest = Int(Duration.longestDelay / period)
      let slower = period * max(min(instances, longest), 1)
      let bucket = try? RateLimiterPolicy.tokenBucket(permits, per: slower, burst: max(burst / max(instances, 1), 1))
      // No number is out of range: those of a valid policy were made smaller, and the period at most as long as may be.
      return (try? bucket?.waiting(atMost: maxWait, maxQueue: maxQueue).answering(feedback)) ?? self
    }
  }
#endif
