import Combine
import StreamSupport

/// Lets so many calls run at the same time, and makes some of the others wait.
///
///     let bulkhead = Bulkhead("search", policy: try BulkheadPolicy(maxConcurrent: 4, maxQueue: 20))
///     request.limited(by: bulkhead)
///     let result = try await bulkhead.run { try await client.search(text) }
///
/// So one slow service does not use up what the others need. One bulkhead is shared by everything that calls the same
/// service. The number of calls is fixed, or found out from how the service answers; see ``AdaptiveLimitPolicy``.
public final class Bulkhead: Sendable {
  /// What a bulkhead holds at one moment.
  public struct Snapshot: Hashable, Sendable {
    /// How many calls run.
    public let running: Int
    /// How many wait.
    public let queued: Int
    /// How many may run.
    public let limit: Int

    /// Describes what a bulkhead holds.
    public init(running: Int, queued: Int, limit: Int) {
      self.running = running
      self.queued = queued
      self.limit = limit
    }
  }

  private struct State {
    var name: AdoptedName
    var machine: BulkheadMachine
    var adaptive: AdaptiveLimitMachine?
    /// How long calls took of late, and how far from that, on the mean; by deadline alone.
    var usualTime = Duration.zero
    var deviation = Duration.zero
    /// Hardly any call takes longer.
    var longTime: Duration { usualTime + deviation * 4 }
    /// Those who wait, by number.
    var waiters: [Int: Waiter] = [:]

    /// Counts how long a call took; as RFC 6298 §2 smooths round-trip times, but that the first one is taken at its word.
    mutating func learn(_ duration: Duration, _ end: ExecutionEnd) {
      switch end {
      case .succeeded: break
      // It would have taken longer.
      case .cancelled: if duration <= longTime { return }
      // Who fails at once says nothing about how long an answer takes.
      case .failed: return
      }
      guard usualTime > .zero else { return usualTime = duration }
      let difference = duration - usualTime
      deviation += ((difference < .zero ? .zero - difference : difference) - deviation) / 4
      usualTime += difference / 8
    }

    /// Takes in how a call has ended.
    ///
    /// - Returns: The limit, if that changes it.
    mutating func learnLimit(_ duration: Duration, running: Int, isOverload: Bool) -> Int? {
      let before = adaptive?.limit
      adaptive?.add(duration: duration, running: running, isOverload: isOverload)
      return adaptive?.limit == before ? nil : adaptive?.limit
    }
  }

  private struct Waiter {
    let answer: @Sendable (Result<Place, any Error>) -> Void
    let time: TimeSource
    /// When it came and by when it must be let in, if that counts.
    var span: (start: Duration, end: Duration)?
    var timer: (any Cancellable)?
  }

  /// A place that a call has: since when, and how many ran then.
  public struct Place: Sendable {
    let start: Duration
    let running: Int
  }

  /// What the bulkhead protects, for its errors: the pipeline which has made it of a policy, if it was given no name.
  public var name: String { shared.read { $0.name.text } }

  private let maxWait: Duration?
  let isAdaptive: Bool
  private let goesByDeadline: Bool
  /// Whether it matters how long calls take.
  private var isTimed: Bool { isAdaptive || goesByDeadline }
  private let isOverload: @Sendable (any Error) -> Bool
  private let shared: Shared<State, BulkheadEvent>
  /// For nearly all calls.
  private let fastPath = BulkheadFastPath()

  /// Makes a bulkhead with a fixed number of places.
  ///
  /// - Parameters:
  ///   - name: What it protects, for its errors.
  ///   - policy: How many calls run at the same time, and how many wait.
  public convenience init(_ name: String, policy: BulkheadPolicy) {
    self.init(named: name, policy)
  }

  /// Makes a bulkhead for the pipeline that it is a stage of, and has its name from.
  convenience init(policy: BulkheadPolicy) {
    self.init(named: nil, policy)
  }

  private init(
    named name: String?,
    _ policy: BulkheadPolicy,
    _ adaptive: AdaptiveLimitMachine? = nil,
    _ isOverload: @escaping @Sendable (any Error) -> Bool = { _ in false }
  ) {
    maxWait = policy.maxWait
    isAdaptive = adaptive != nil
    goesByDeadline = policy.order == .earliestDeadline
    self.isOverload = isOverload
    let limit = adaptive?.limit ?? policy.maxConcurrent
    let machine = BulkheadMachine(limit: limit, maxQueue: policy.maxQueue, order: policy.order)
    shared = Shared(State(name: AdoptedName(name, of: .bulkhead), machine: machine, adaptive: adaptive))
    locked { _, _ in }  // Opens the fast path, if it has one.
  }

  /// Makes a bulkhead that finds out how many calls its service bears.
  ///
  /// - Parameters:
  ///   - name: What it protects, for its errors.
  ///   - policy: How many calls run first, and how many wait.
  ///   - adaptive: How the number follows from how long calls take and how they end; it begins with that of the policy,
  ///     brought into its range.
  ///   - isOverload: Which errors say that the service has too much to do: time outs, 429, 503. Other failures, and
  ///     calls that are cancelled before a value, say nothing about that and are left out.
  public convenience init(
    _ name: String,
    policy: BulkheadPolicy,
    adapting adaptive: AdaptiveLimitPolicy,
    overloadedWhen isOverload: @escaping @Sendable (any Error) -> Bool
  ) {
    self.init(named: name, policy, AdaptiveLimitMachine(adaptive, initial: policy.maxConcurrent), isOverload)
  }

  /// Takes the name of a pipeline, unless it has one.
  func adopt(name: String) {
    shared.adjust { state, _ in state.name.adopt(name) }
  }

  /// Tells one more observer what is decided, in order, with no lock held.
  @discardableResult
  public func onEvent(_ observer: @escaping @Sendable (BulkheadEvent) -> Void) -> Bulkhead {
    onEvent(to: .always, observer)
    return self
  }

  package func onEvent(to audience: Audience, _ observer: @escaping @Sendable (BulkheadEvent) -> Void) {
    shared.observe(for: audience, observer)
    listenerCame()
  }

  /// Shuts the fast path; it opens with the first call that finds nobody listening any more.
  package func listenerCame() { locked { _, _ in } }

  /// What the bulkhead holds now.
  public var snapshot: Snapshot {
    shared.read {
      // Of the two numbers of those who run, one is zero.
      Snapshot(running: $0.machine.running + fastPath.running, queued: $0.machine.queued, limit: $0.machine.limit)
    }
  }

  // MARK: Calls by hand

  /// A place that a call has, until it is released.
  ///
  /// One that is forgotten is released as cancelled.
  public final class Permit: Sendable {
    private let bulkhead: Bulkhead
    private let place: Place
    private let time: TimeSource
    private let isHeld = Locked(true)

    fileprivate init(_ place: Place, of bulkhead: Bulkhead, _ time: TimeSource) {
      self.bulkhead = bulkhead
      self.place = place
      self.time = time
    }

    deinit {
      release(.cancelled)
    }

    /// Gives the place to the next one; nothing happens the second time.
    public func release(_ end: ExecutionEnd = .succeeded) {
      if isHeld.exchange(false) { bulkhead.leave(place, end, time) }
    }
  }

  /// Takes a place if one is free, and does not wait.
  ///
  /// - Parameter time: Measures how long the call takes.
  /// - Throws: ``BulkheadFull`` if none is free, or others wait.
  public func acquire(on time: TimeSource = .current) throws(BulkheadFull) -> Permit {
    let now = isTimed ? time.now : .zero
    let running: Int = try locked { (state, events) throws(BulkheadFull) in
      guard state.machine.running < state.machine.limit, case .granted = state.machine.enter() else {
        events.append(.rejected(queued: state.machine.queued, limit: state.machine.limit))
        throw refusal(state)
      }
      events.append(.admitted(running: state.machine.running, limit: state.machine.limit))
      return state.machine.running
    }
    return Permit(Place(start: now, running: running), of: self, time)
  }

  // MARK: Calls

  /// Takes a place if one is free, and nobody listens.
  func enterAtOnce() -> Place? {
    guard let running = fastPath.enter() else { return nil }
    return Place(start: .zero, running: running)
  }

  /// Asks for a place; see ``AdmissionControl/ask(_:_:)``.
  ///
  /// - Parameters:
  ///   - deadline: The deadline of the call, asked for if it counts.
  ///   - waited: How long the call has waited elsewhere, which is a part of its longest wait.
  func ask(
    priority: Int,
    time: TimeSource,
    deadline: @autoclosure () -> Deadline?,
    waited: Duration = .zero,
    _ answer: @escaping @Sendable (Result<Place, any Error>) -> Void
  ) -> (any Cancellable)? {
    let now = isTimed ? time.now : .zero
    // Its moment may be on another time, which begins elsewhere.
    let end = goesByDeadline ? deadline().map { now + $0.remaining(at: now, on: time) } : nil
    // Who must be ready sooner is more important; who need not be at any time is least.
    let priority = goesByDeadline ? end.map { -Int($0.wholeNanoseconds) } ?? .min : priority
    enum Reply {
      case granted(running: Int)
      case queued(Int)
      case refused(BulkheadFull)
    }
    let reply: Reply = locked { state, events in
      switch state.machine.enter(priority: priority) {
      case .granted:
        events.append(.admitted(running: state.machine.running, limit: state.machine.limit))
        return .granted(running: state.machine.running)
      case .queued(let number):
        state.waiters[number] = Waiter(answer: answer, time: time, span: end.map { (now, $0) })
        events.append(.queued(state.machine.queued))
        return .queued(number)
      case .rejected:
        events.append(.rejected(queued: state.machine.queued, limit: state.machine.limit))
        return .refused(refusal(state))
      }
    }
    switch reply {
    case .granted(let running):
      answer(.success(Place(start: now, running: running)))
      return nil
    case .refused(let error):
      answer(.failure(error))
      return nil
    case .queued(let number):
      if let maxWait { setTimer(time, after: max(maxWait - waited, .zero), for: number) }
      return AnyCancellable { self.abandon(number, timedOut: false) }
    }
  }

  /// Looks at the state or changes it, with those who were let in and out beside it, then tells the observers.
  private func locked<Result, Failure: Error>(
    _ body: (inout State, inout UntoldEvents<BulkheadEvent>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try shared.change { (state, events) throws(Failure) in
      if let running = fastPath.close() { state.machine.take(running: running) }
      defer {
        if !isTimed, !events.isListened, state.machine.queued == 0 {
          fastPath.open(running: state.machine.running, limit: state.machine.limit)
          state.machine.take(running: 0)
        }
      }
      return try body(&state, &events)
    }
  }

  private func setTimer(_ time: TimeSource, after maxWait: Duration, for number: Int) {
    let timer = time.after(maxWait) { self.abandon(number, timedOut: true) }
    let isWaiting = shared.adjust { state, _ in
      guard state.waiters[number] != nil else { return false }
      state.waiters[number]?.timer = timer
      return true
    }
    if !isWaiting { timer.cancel() }
  }

  private func abandon(_ number: Int, timedOut: Bool) {
    let (waiter, error): (Waiter?, BulkheadFull?) = locked { state, events in
      // Also called by handles of calls that were let in long ago: those must not search the queue.
      guard state.waiters[number] != nil, state.machine.abandon(number) else { return (nil, nil) }
      let queued = state.machine.queued
      events.append(timedOut ? .timedOut(queued: queued) : .abandoned(queued: queued))
      return (state.waiters.removeValue(forKey: number), refusal(state, waited: maxWait))
    }
    guard let waiter, let error else { return }
    waiter.timer?.cancel()
    if timedOut { waiter.answer(.failure(error)) }
  }

  private func refusal(_ state: State, waited: Duration? = nil) -> BulkheadFull {
    BulkheadFull(
      name: state.name.text,
      limit: state.machine.limit,
      queued: state.machine.queued,
      waited: waited
    )
  }

  /// Gives a place to the next one.
  func leave(_ place: Place, _ end: ExecutionEnd, _ time: @autoclosure () -> TimeSource) {
    if !fastPath.leave() { leaveToNext(place, end, time()) }
  }

  private func leaveToNext(_ place: Place, _ end: ExecutionEnd, _ time: TimeSource) {
    let now = isTimed ? time.now : .zero
    let isOverload: Bool? =
      switch end {
      case .succeeded: false
      case .failed(let error): self.isOverload(error) ? true : nil
      case .cancelled: nil
      }
    let answered: [(Waiter, Result<Int, BulkheadFull>)] = locked { state, events in
      if goesByDeadline { state.learn(now - place.start, end) }
      // First what the call has taught: its place may be one too many from now on.
      let limit = isOverload.flatMap { state.learnLimit(now - place.start, running: place.running, isOverload: $0) }
      var numbers = limit.map { state.machine.change(limit: $0) } ?? []
      numbers += state.machine.leave()
      events.append(.released(running: state.machine.running - numbers.count))
      if let limit { events.append(.limitChanged(limit)) }
      return letIn(numbers, at: now, &state, &events)
    }
    for (waiter, result) in answered {
      waiter.timer?.cancel()
      switch result {
      case .success(let running):
        waiter.answer(.success(Place(start: isTimed ? waiter.time.now : .zero, running: running)))
      case .failure(let error): waiter.answer(.failure(error))
      }
    }
  }

  /// Gives places to those whose turn it is, and passes on the places of those who come too late.
  private func letIn(
    _ numbers: [Int],
    at now: Duration,
    _ state: inout State,
    _ events: inout UntoldEvents<BulkheadEvent>
  ) -> [(Waiter, Result<Int, BulkheadFull>)] {
    var (numbers, running) = (numbers[...], state.machine.running - numbers.count)
    var answered: [(Waiter, Result<Int, BulkheadFull>)] = []
    while let number = numbers.popFirst() {
      guard let waiter = state.waiters.removeValue(forKey: number) else { continue }
      if let span = waiter.span, span.end <= now + state.longTime {
        numbers += state.machine.leave()
        events.append(.timedOut(queued: state.machine.queued))
        answered.append((waiter, .failure(refusal(state, waited: now - span.start))))
      } else {
        running += 1
        events.append(.admitted(running: running, limit: state.machine.limit))
        answered.append((waiter, .success(running)))
      }
    }
    return answered
  }
}

extension Bulkhead: AdmissionControl, Policy {
  /// Takes a place if one is free, and nobody listens.
  public func admitAtOnce(_ execution: ExecutionContext) -> Place? { enterAtOnce() }

  /// Asks for a place.
  public func ask(
    _ execution: ExecutionContext,
    _ answer: @escaping @Sendable (Result<Place, any Error>) -> Void
  ) -> (any Cancellable)? {
    ask(priority: 0, time: execution.time, deadline: execution.deadline, answer)
  }

  /// Asks for a place for a call that has waited elsewhere.
  package func ask(
    _ execution: ExecutionContext,
    waited: Duration,
    _ answer: @escaping @Sendable (Result<Place, any Error>) -> Void
  ) -> (any Cancellable)? {
    ask(priority: 0, time: execution.time, deadline: execution.deadline, waited: waited, answer)
  }

  /// Gives the place to the next one.
  public func settle(_ place: Place, _ end: ExecutionEnd, _ execution: ExecutionContext) {
    leave(place, end, execution.time)
  }
}
