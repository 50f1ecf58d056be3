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
    ///
    /// - Parameters:
    ///   - running: How many calls run.
    ///   - queued: How many wait.
    ///   - limit: How many may run.
    public init(running: Int, queued: Int, limit: Int) {
      self.running = running
      self.queued = queued
      self.limit = limit
    }
  }

  private struct State {
    var machine: BulkheadMachine
    var adaptive: AdaptiveLimitMachine?
    /// Those who wait, by number.
    var waiters: [Int: Waiter] = [:]
  }

  private struct Waiter {
    let answer: (Result<Permit, BulkheadFull>) -> Void
    var timer: (any Cancellable)?
  }

  /// What the bulkhead protects, for its errors.
  public let name: String
  private let maxWait: Duration?
  private let time: MonotonicTime
  private let isOverload: @Sendable (any Error) -> Bool
  private let shared: Shared<State, BulkheadEvent>

  /// Makes a bulkhead with a fixed number of places.
  ///
  /// - Parameters:
  ///   - name: What it protects, for its errors.
  ///   - policy: How many calls run at the same time, and how many wait.
  public init(_ name: String, policy: BulkheadPolicy) {
    self.name = name
    maxWait = policy.maxWait
    time = .continuous
    isOverload = { _ in false }
    let machine = BulkheadMachine(limit: policy.maxConcurrent, maxQueue: policy.maxQueue, order: policy.order)
    shared = Shared(State(machine: machine))
  }

  /// Makes a bulkhead that finds out how many calls its service bears.
  ///
  /// - Parameters:
  ///   - name: What it protects, for its errors.
  ///   - policy: How many calls run first, and how many wait.
  ///   - adaptive: How the number follows from how long calls take and how they end; it begins with that of the policy,
  ///     brought into its range.
  ///   - time: Measures how long calls take.
  ///   - isOverload: Which errors say that the service has too much to do: time outs, 429, 503. Other failures, and
  ///     cancelled calls, say nothing about that and are left out.
  public init(
    _ name: String,
    policy: BulkheadPolicy,
    adapting adaptive: AdaptiveLimitPolicy,
    time: MonotonicTime = .continuous,
    overloadedWhen isOverload: @escaping @Sendable (any Error) -> Bool
  ) {
    self.name = name
    maxWait = policy.maxWait
    self.time = time
    self.isOverload = isOverload
    let limit = AdaptiveLimitMachine(adaptive, initial: policy.maxConcurrent)
    let machine = BulkheadMachine(limit: limit.limit, maxQueue: policy.maxQueue, order: policy.order)
    shared = Shared(State(machine: machine, adaptive: limit))
  }

  /// Tells one more observer what is decided, in order, with no lock held.
  @discardableResult
  public func onEvent(_ observer: @escaping @Sendable (BulkheadEvent) -> Void) -> Bulkhead {
    shared.observe(observer)
    return self
  }

  /// What the bulkhead holds now.
  public var snapshot: Snapshot {
    shared.read {
      Snapshot(running: $0.machine.running, queued: $0.machine.queued, limit: $0.machine.limit)
    }
  }

  // MARK: Calls

  /// How a call has ended.
  public enum Outcome: Sendable {
    /// It has succeeded.
    case succeeded
    /// It has failed.
    case failed(any Error)
    /// It was cancelled, and says nothing about the service.
    case cancelled
  }

  /// A place that a call has, until it is released.
  ///
  /// One that is forgotten is released as cancelled. Unchecked, because the lock guards its only state.
  public final class Permit: @unchecked Sendable {
    private let bulkhead: Bulkhead
    private let start: Duration
    private let running: Int
    private let lock = Lock()
    private var isHeld = true

    fileprivate init(_ running: Int, start: Duration, of bulkhead: Bulkhead) {
      self.bulkhead = bulkhead
      self.start = start
      self.running = running
    }

    deinit {
      release(.cancelled)
    }

    /// Gives the place to the next one; nothing happens the second time.
    public func release(_ outcome: Outcome = .succeeded) {
      let wasHeld = lock.withLock {
        defer { isHeld = false }
        return isHeld
      }
      if wasHeld { bulkhead.leave(outcome, start: start, running: running) }
    }
  }

  /// Takes a place if one is free, and does not wait.
  ///
  /// - Throws: ``BulkheadFull`` if none is free, or others wait.
  public func acquire() throws(BulkheadFull) -> Permit {
    let now = time.now
    let running: Int = try shared.change { (state, events) throws(BulkheadFull) in
      guard state.machine.running < state.machine.limit, case .granted = state.machine.enter() else {
        events.append(.rejected(queued: state.machine.queued, limit: state.machine.limit))
        throw refusal(state)
      }
      events.append(.admitted(running: state.machine.running, limit: state.machine.limit))
      return state.machine.running
    }
    return Permit(running, start: now, of: self)
  }

  /// Asks for a place.
  ///
  /// - Parameter answer: As in ``Admission/ask``.
  func ask(
    priority: Int,
    alarm: Alarm,
    _ answer: @escaping (Result<Permit, BulkheadFull>) -> Void
  ) -> (any Cancellable)? {
    let now = time.now
    enum Reply {
      case granted(running: Int)
      case queued(Int)
      case refused(BulkheadFull)
    }
    let reply: Reply = shared.change { state, events in
      switch state.machine.enter(priority: priority) {
      case .granted:
        events.append(.admitted(running: state.machine.running, limit: state.machine.limit))
        return .granted(running: state.machine.running)
      case .queued(let number):
        state.waiters[number] = Waiter(answer: answer)
        events.append(.queued(state.machine.queued))
        return .queued(number)
      case .rejected:
        events.append(.rejected(queued: state.machine.queued, limit: state.machine.limit))
        return .refused(refusal(state))
      }
    }
    switch reply {
    case .granted(let running):
      answer(.success(Permit(running, start: now, of: self)))
      return nil
    case .refused(let error):
      answer(.failure(error))
      return nil
    case .queued(let number):
      if let maxWait { setTimer(alarm, after: maxWait, for: number) }
      return AnyCancellable { self.abandon(number, timedOut: false) }
    }
  }

  private func setTimer(_ alarm: Alarm, after maxWait: Duration, for number: Int) {
    let timer = alarm.set(maxWait) { self.abandon(number, timedOut: true) }
    let isWaiting = shared.change { state, _ in
      guard state.waiters[number] != nil else { return false }
      state.waiters[number]?.timer = timer
      return true
    }
    if !isWaiting { timer.cancel() }
  }

  private func abandon(_ number: Int, timedOut: Bool) {
    let (waiter, error): (Waiter?, BulkheadFull?) = shared.change { state, events in
      guard state.machine.abandon(number) else { return (nil, nil) }
      let queued = state.machine.queued
      events.append(timedOut ? .timedOut(queued: queued) : .abandoned(queued: queued))
      return (state.waiters.removeValue(forKey: number), refusal(state, waited: maxWait))
    }
    guard let waiter, let error else { return }
    waiter.timer?.cancel()
    if timedOut { waiter.answer(.failure(error)) }
  }

  private func refusal(_ state: State, waited: Duration? = nil) -> BulkheadFull {
    BulkheadFull(name: name, limit: state.machine.limit, queueLength: state.machine.queued, waited: waited)
  }

  private func leave(_ outcome: Outcome, start: Duration, running: Int) {
    let now = time.now
    let isOverload: Bool? =
      switch outcome {
      case .succeeded: false
      case .failed(let error): self.isOverload(error) ? true : nil
      case .cancelled: nil
      }
    let granted: [(Waiter, running: Int)] = shared.change { state, events in
      var numbers = state.machine.leave()
      events.append(.released(running: state.machine.running - numbers.count))
      if let isOverload, let before = state.adaptive?.limit {
        state.adaptive?.add(duration: now - start, running: running, isOverload: isOverload)
        if let limit = state.adaptive?.limit, limit != before {
          events.append(.limitChanged(limit))
          numbers += state.machine.change(limit: limit)
        }
      }
      let first = state.machine.running - numbers.count
      return numbers.enumerated().compactMap { offset, number in
        events.append(.admitted(running: first + offset + 1, limit: state.machine.limit))
        return state.waiters.removeValue(forKey: number).map { ($0, first + offset + 1) }
      }
    }
    Trampoline.run(
      granted.map { waiter, running in
        {
          waiter.timer?.cancel()
          waiter.answer(.success(Permit(running, start: now, of: self)))
        }
      }
    )
  }
}

extension Bulkhead {
  /// Runs an asynchronous function once there is a place for it.
  ///
  /// - Parameters:
  ///   - priority: The higher, the sooner, if the policy goes by it.
  ///   - clock: Measures the longest wait.
  ///   - isolation: The caller's.
  ///   - operation: The call.
  /// - Throws: ``BulkheadFull`` if it is refused; `CancellationError` if the task is cancelled while it waits; otherwise
  ///   what the function throws.
  public func run<Value, C: Clock>(
    priority: Int = 0,
    clock: C = ContinuousClock(),
    isolation: isolated (any Actor)? = #isolation,
    _ operation: () async throws -> Value
  ) async throws -> Value where C.Duration == Duration {
    let permit = try await Answer<Permit>.wait(isolation: isolation, unwanted: { $0.release(.cancelled) }) {
      self.ask(priority: priority, alarm: Alarm(clock), $0)
    }
    do {
      let value = try await operation()
      permit.release()
      return value
    } catch {
      permit.release(error is CancellationError || Task.isCancelled ? .cancelled : .failed(error))
      throw error
    }
  }
}
