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
  /// processes begin in the order in which they asked; a reservation is not given back if the call is cancelled. In each
  /// process as many wait as the policy lets. When the service itself asks for a pause, all processes keep it.
  ///
  /// While the fleet is not joined, a process lets through the share of one instance: the same policy, as many times
  /// slower as there are instances. That share goes down and up with what the service says, as the policy's `feedback`
  /// has it; the rate of all processes does not.
  ///
  /// A new version of a program may give the same name another rate: what is missing in the bucket then comes back at that
  /// one.
  ///
  /// - Keys: `rebound:{fleet:name}:rate`, three numbers: when the bucket is full again, how long one call takes to come
  ///   back, and when that was written; and `rebound:{fleet:name}:pause`, two: when the pause is over that the service has
  ///   asked for, and when that was written. All are in microseconds. The keys expire when the bucket is full, and when the
  ///   pause is over.
  ///
  /// Source: the generic cell rate algorithm (ITU-T I.371, virtual scheduling).
  public final class FleetRateLimiter: Sendable {
    /// What it protects, for its errors.
    public let name: String
    private let policy: RateLimiterPolicy
    private let isThrottling: @Sendable (any Error) -> Bool
    let fleet: Fleet
    private let keys: [String]
    /// All that a decision takes is known before: for a call that may wait, and for one that may not.
    private let command: RedisCommand
    private let hastyCommand: RedisCommand
    private let shared: Shared<State, RateLimiterEvent>
    /// 1 while somebody listens; set with the lock, read without it, by each decision.
    private let isListened = AtomicWord()
    /// 1 from when the service has said that there were too many calls until a heartbeat finds nothing left of it; set with
    /// the lock, read without it, by decisions and successes.
    private let wasThrottled = AtomicWord()

    init(
      _ name: String,
      policy: RateLimiterPolicy,
      fleet: Fleet,
      throttledWhen isThrottling: @escaping @Sendable (any Error) -> Bool
    ) throws(InvalidPolicy) {
      guard case .bucket(let burst) = policy.meter else {
        throw InvalidPolicy(.rateLimiter, "policy", "a window", "Give a token bucket; a fleet has no windows.")
      }
      (self.name, self.policy, self.fleet, self.isThrottling) = (name, policy, fleet, isThrottling)
      keys = [fleet.key(name) + "rate", fleet.key(name) + "pause"]
      var command = RedisCommand(Self.script, keys: keys)
      let interval = policy.period.inSeconds * 1e6 / Double(policy.permits)
      command.add("\(interval)")
      command.add("\(interval * Double(burst - 1))")
      var hasty = command
      hasty.add(0)
      hastyCommand = hasty
      command.add("\(policy.maxWait.inSeconds * 1e6)")
      self.command = command
      let parts = fleet.instances
      let twin = RateLimiter(name, policy: policy.share(ofOneIn: parts), throttledWhen: isThrottling)
      shared = Shared(State(twin: LocalTwin(twin, ofOneIn: parts)))
    }

    /// Tells one more observer, also what this process decides alone.
    package func onEvent(to audience: Audience, _ observer: @escaping @Sendable (RateLimiterEvent) -> Void) {
      shared.observe(for: audience, observer)
      listenerCame()
      shared.adjust { state, _ in state.twin.add(to: audience, observer) }.onEvent(to: audience, observer)
    }

    /// Has the calls be told that just begin, until one of them finds nobody listening any more.
    package func listenerCame() { shared.adjust { _, isListened in self.isListened.set(isListened ? 1 : 0) } }

    /// The limiter of this process alone, with its share of the rate.
    ///
    /// One for another number of instances knows what the one before has learned.
    private func twin() -> RateLimiter {
      let parts = fleet.instances
      let (twin, before) = shared.adjust { state, _ in
        state.twin.ofOneIn(parts) { RateLimiter($0, policy: policy.share(ofOneIn: parts)) }
      }
      withExtendedLifetime(before) {}
      return twin
    }

    /// The service has said that there were too many calls; no process begins one for so long.
    ///
    /// - Parameters:
    ///   - pause: For how long it wants none; a longer one than the `maxHint` of the policy's feedback counts as that.
    ///   - now: The present, on the time of the execution.
    public func throttle(pause: Duration? = nil, at now: Duration = TimeSource.current.now) {
      twin().throttle(pause: pause, at: now)
      keep(pause)
    }

    /// Has all processes keep a pause that the service has asked for; called once the share is lowered, so that no heartbeat
    /// between the two finds nothing.
    private func keep(_ pause: Duration?) {
      let pause = policy.feedback.bounded(pause)
      let end = pause.map { fleet.time.now + $0 }
      shared.adjust { state, _ in
        wasThrottled.set(1)
        if let end { state.pausedUntil = max(state.pausedUntil ?? end, end) }
      }
      if let pause { tell(pause) }
    }

    private func tell(_ pause: Duration) {
      var command = RedisCommand(Self.pauseScript, keys: [keys[1]])
      command.add(Self.microseconds(pause))
      fleet.tell(command)
    }

    /// A pause as scripts take it: of a day at most, since the heartbeat tells of the rest.
    private static func microseconds(_ pause: Duration) -> String { "\(min(pause.inSeconds, 86_400) * 1e6)" }

    // MARK: The server

    /// What to ask for a call: while as many wait as may, it begins at once, or has no moment reserved.
    private func question() -> Question {
      let wasThrottled = wasThrottled.value == 1
      guard wasThrottled || policy.maxWait > .zero else { return Question(command: hastyCommand, mayWait: false) }
      let now = wasThrottled ? fleet.time.now : .zero
      let (mayWait, pause): (Bool, Duration?) = shared.adjust { state, _ in
        (state.takePlace(policy), wasThrottled ? state.pause(at: now) : nil)
      }
      var command = mayWait ? command : hastyCommand
      // The server may not know of it yet, or have forgotten it.
      if let pause { command.add(Self.microseconds(pause)) }
      return Question(command: command, mayWait: mayWait)
    }

    /// A question has no answer of use.
    private func withdraw(_ question: Question) {
      if question.mayWait { shared.adjust { state, _ in state.asking -= 1 } }
    }

    private enum Verdict {
      case begins
      case waits(Duration)
      case refused(RateLimited)
      /// It might not wait, and may now.
      case asksAgain(Question)
    }

    /// The wait in an answer; `nil`, also if it makes no sense: nobody waits for longer than it may.
    private func wait(in reply: RedisReply?, to question: Question) -> Int? {
      guard let reply else { return nil }
      let longest = question.mayWait ? Int((policy.maxWait.inSeconds * 1e6).rounded(.up)) : 0
      guard let wait = reply.integer, wait > .min, wait <= longest else {
        fleet.distrust(reply)
        return nil
      }
      return wait
    }

    /// What the server has said, told to whoever listens.
    private func verdict(_ wait: Int, _ question: Question) -> Verdict {
      if wait == 0 {
        if question.mayWait || isListened.value == 1 { tell(answering: question) { _ in .admitted } }
        return .begins
      }
      let length = Duration.microseconds(abs(wait))
      guard wait > 0 else {
        if !question.mayWait, length <= policy.maxWait {
          // Those before it may have begun meanwhile.
          let next = self.question()
          if next.mayWait { return .asksAgain(next) }
        }
        let queued = tell(answering: question) { _ in .rejected(retryAfter: length) }
        return .refused(RateLimited(name: name, retryAfter: length, queued: queued))
      }
      tell(answering: question) { queued in
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

    private func ask(
      _ question: Question,
      _ execution: ExecutionContext,
      _ pending: PendingSteps,
      _ answer: @escaping @Sendable (Result<Duration, any Error>) -> Void
    ) {
      fleet.ask(question.command) { [self] reply in
        execution.resume { [self] in
          guard !pending.isCancelled else { return withdraw(question) }
          if let wait = wait(in: reply, to: question) {
            return decide(verdict(wait, question), execution, pending, answer)
          }
          withdraw(question)
          pending.begin(twin().ask(execution, answer))
        }
      }
    }

    private func decide(
      _ verdict: Verdict,
      _ execution: ExecutionContext,
      _ pending: PendingSteps,
      _ answer: @escaping @Sendable (Result<Duration, any Error>) -> Void
    ) {
      switch verdict {
      case .begins: answer(.success(execution.now))
      case .refused(let error): answer(.failure(error))
      case .asksAgain(let question): ask(question, execution, pending, answer)
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
    private func tell(answering question: Question? = nil, _ body: (inout Int) -> RateLimiterEvent) -> Int {
      shared.change { state, events in
        if question?.mayWait == true { state.asking -= 1 }
        isListened.set(events.isListened ? 1 : 0)
        // Before it is known whether anybody listens.
        let event = body(&state.queued)
        events.append(event)
        return state.queued
      }
    }
  }

  extension FleetRateLimiter: Fleet.Member {
    /// Tells the server of a pause that it does not know of if it was away, or has forgotten.
    func heartbeat() {
      guard wasThrottled.value == 1 else { return }
      let now = fleet.time.now
      let pause: Duration? = shared.adjust { state, _ in
        let pause = state.pause(at: now)
        if pause == nil, state.twin.object.snapshot.share >= 1 { wasThrottled.set(0) }
        return pause
      }
      if let pause { tell(pause) }
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
      ask(question(), execution, pending, answer)
      return pending
    }

    /// Runs an asynchronous function as soon as a call may begin.
    ///
    /// See `run(time:_:)` of `Policy`.
    ///
    /// - Parameters:
    ///   - time: Measures time and waits.
    ///   - operation: The call.
    /// - Throws: `RateLimited` if it may not begin in time; what the function throws; `TimedOut` if `Deadline.current` is
    ///   over, and `CancellationError` if the task is cancelled, before it begins.
    @inlinable
    public nonisolated(nonsending) func run<Value>(
      time: TimeSource? = nil,
      _ operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
      try Task.checkCancellation()
      return try await run(ExecutionContext(time: time), operation)
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
        let value = try await operation()
        settle(begun, .succeeded, execution)
        return value
      } catch {
        settle(begun, isAbandonment(error) ? .cancelled : .failed(error), execution)
        throw error
      }
    }

    @usableFromInline
    nonisolated(nonsending) func begin(_ execution: ExecutionContext) async throws -> Duration {
      guard fleet.isJoined else { return try await beginAlone(execution) }
      var question = question()
      while true {
        let reply: RedisReply?
        do { reply = try await fleet.askUntilCancelled(question.command) } catch {
          withdraw(question)
          throw error
        }
        guard let wait = wait(in: reply, to: question) else {
          withdraw(question)
          return try await beginAlone(execution)
        }
        switch verdict(wait, question) {
        case .begins: return execution.now
        case .refused(let error): throw error
        case .asksAgain(let next): question = next
        case .waits(let length):
          do { try await execution.time.wait(for: length, until: Deadline.toHeed) } catch {
            waitEnds(abandoned: true)
            throw error
          }
          waitEnds(abandoned: false)
          return execution.now
        }
      }
    }

    private nonisolated(nonsending) func beginAlone(_ execution: ExecutionContext) async throws -> Duration {
      let twin = twin()
      var moment: Duration?
      if let begun = twin.admitAtOnce(execution, &moment) { return begun }
      return try await Answer.wait(until: Deadline.toHeed) { [moment] in twin.ask(execution, at: moment, $0) }
    }

    /// Learns from how the call has ended that began at this moment.
    public func settle(_ begun: Duration, _ end: ExecutionEnd, _ execution: ExecutionContext) {
      switch end {
      case .succeeded:
        // Else the share of this process is full.
        if wasThrottled.value == 1 { twin().settle(begun, end, execution) }
      case .failed(let error):
        guard isThrottling(error) else { return }
        twin().settle(begun, end, execution)
        keep((error as? any RetryAfterProviding)?.retryAfter)
      case .cancelled: break
      }
    }
  }
#endif
