import Combine
import Dispatch
import Foundation
import Rebound
import StreamSupport

/// Keeps what is to be sent until it is sent: stored before it is sent, delivered at least once, in order for each key.
///
///     let outbox = Outbox<Order>("orders", storage: FileOutboxStorage(at: file)) { entry in
///       await shop.place(entry.payload, idempotencyKey: entry.idempotencyKey)   // .delivered, .tryLater(error) …
///     }
///     outbox.start()
///     try await outbox.enqueue(order, key: "cart")
///
/// Once ``enqueue(_:key:options:)`` returns, the entry survives the end of the process, and is delivered when the other
/// side can be reached: now, when the pause after a failure is over, or when there is a network again. It is in one of
/// three places until the app itself takes it back: pending, delivered, or a dead letter.
///
/// - **At least once**: whatever was under way when the process ended is sent again, since nobody knows whether it arrived.
///   Send the entry's ``OutboxEntry/idempotencyKey`` along, so that the other side knows a repetition.
/// - **In order**: entries of one key are sent one after the other. One that fails for the moment stays at the front, and
///   its key waits; other keys go on.
///
/// An outbox works on a scheduler of its own: there it reads and writes its storage, asks for deliveries, and tells its
/// events. It works as long as somebody holds it; released, it cancels what is under way and leaves the storage.
///
/// Deliveries have a time that they need not be told (`TimeSource.current`): that of the scheduler, if it has one of its own,
/// such as one for tests, and otherwise the one that was current when the outbox was made.
public final class Outbox<Payload: Codable & Sendable>: Sendable {
  typealias Machine = OutboxMachine<Payload>
  typealias Delivery = @Sendable (OutboxEntry<Payload>, FirstValue<OutboxVerdict, Never>) -> Void

  struct State {
    var machine: Machine
    /// What is to be done, in order, and who is at it.
    var mailbox: [OutboxCommand<Payload>] = []
    var loop = DrainLoop()
    var isPaused = false
    var isOnline = true

    mutating func takeMail() -> [OutboxCommand<Payload>] {
      defer { mailbox = [] }
      return mailbox
    }

    var inNumbers: OutboxState {
      OutboxState(
        pending: machine.pendingCount,
        delivering: machine.underWayCount,
        deadLetters: machine.deadCount,
        isPaused: isPaused,
        isOnline: isOnline
      )
    }
  }

  /// What it is for, for logs.
  public let name: String
  let policy: OutboxPolicy
  let random: RandomSource
  let shared: Shared<State, OutboxEvent<Payload>>
  private let numbers = SharedSubject(CurrentValueSubject<OutboxState, Never>(OutboxState()))
  private let scheduler: any WaitingTime
  private let turns = Turns()
  // One thread at a time does the work: the loop in `shared` lets the next one begin only when the one before is done.
  nonisolated(unsafe) private let work: OutboxWork<Payload>

  /// Makes an outbox that delivers with a publisher; nothing happens before ``start()`` or the first entry.
  ///
  /// - Parameters:
  ///   - name: What it is for, for logs.
  ///   - policy: How much it holds, how often it tries, and for how long.
  ///   - storage: Where its entries are; no other outbox may have it at the same time.
  ///   - online: Whether there is a network, and every change: without one nothing is sent, and when it is back, keys that
  ///     wait for it go on at once. Without this publisher, the pauses alone decide.
  ///   - scheduler: Where it works, and whose time its pauses take. Its storage blocks it.
  ///   - wallClock: The clock by which entries expire; `nil` for that of the scheduler's time: the device's, or in a test a
  ///     virtual one.
  ///   - random: Draws idempotency keys, and the jitter of pauses.
  ///   - delivery: Delivers an entry; its first value counts, and a finish without one means to try again later. Called on
  ///     the scheduler. It is cancelled if the app takes the entry back, and when the outbox is closed or released.
  public init<Context: Scheduler>(
    _ name: String,
    policy: OutboxPolicy = .standard,
    storage: any OutboxStorage,
    online: AnyPublisher<Bool, Never>? = nil,
    scheduler: Context = DispatchQueue(label: "Rebound.Outbox", qos: .utility),
    wallClock: (@Sendable () -> Date)? = nil,
    random: RandomSource = .system,
    deliveringWith delivery: @escaping @Sendable (OutboxEntry<Payload>) -> AnyPublisher<OutboxVerdict, Never>
  ) {
    self.name = name
    self.policy = policy
    self.random = random
    shared = Shared(State(machine: Machine(policy, random: random)))
    self.scheduler = SchedulerTime(scheduler)
    let time = TimeSource(scheduler)
    let timeOfDeliveries = TimedScheduler(scheduler, time: nil).time
    work = OutboxWork(
      storage: storage,
      online: online,
      time: time,
      wallClock: wallClock ?? { Date(timeIntervalSince1970: time.wallClock.inSeconds) },
      empty: Machine(policy, random: random),
      delivery: { entry, verdict in
        TimeSource.$current.withValue(timeOfDeliveries) { delivery(entry).subscribe(verdict) }
      }
    )
  }

  /// Makes an outbox that delivers with an asynchronous function; nothing happens before ``start()`` or the first entry.
  ///
  /// - Parameters:
  ///   - name: What it is for, for logs.
  ///   - policy: How much it holds, how often it tries, and for how long.
  ///   - storage: Where its entries are; no other outbox may have it at the same time.
  ///   - online: Whether there is a network, and every change, as for the other initializer.
  ///   - scheduler: Where it works, and whose time its pauses take. Its storage blocks it.
  ///   - wallClock: The clock by which entries expire; `nil` for that of the scheduler's time: the device's, or in a test a
  ///     virtual one.
  ///   - random: Draws idempotency keys, and the jitter of pauses.
  ///   - deliver: Delivers an entry, in a task of its own, which is cancelled if the app takes the entry back, and when the
  ///     outbox is closed or released.
  public convenience init<Context: Scheduler>(
    _ name: String,
    policy: OutboxPolicy = .standard,
    storage: any OutboxStorage,
    online: AnyPublisher<Bool, Never>? = nil,
    scheduler: Context = DispatchQueue(label: "Rebound.Outbox", qos: .utility),
    wallClock: (@Sendable () -> Date)? = nil,
    random: RandomSource = .system,
    delivering deliver: @escaping @Sendable (OutboxEntry<Payload>) async -> OutboxVerdict
  ) {
    self.init(
      name,
      policy: policy,
      storage: storage,
      online: online,
      scheduler: scheduler,
      wallClock: wallClock,
      random: random,
      deliveringWith: { entry in
        // The function throws nothing, so there is no failure to replace.
        Publishers.Asynchronous { await deliver(entry) }.catch { _ in Empty() }.eraseToAnyPublisher()
      }
    )
  }

  deinit {
    // No thread is at work, since the work holds the outbox.
    work.end()
  }

  /// Has an entry that must not be delivered twice delivered only once it is stored, durably, that it is; while the storage
  /// fails, its key waits.
  ///
  /// To be called before anything else is done with the outbox.
  ///
  /// - Parameter mayRepeat: Whether an entry may be delivered twice. Called on the scheduler.
  package func repeating(where mayRepeat: @escaping @Sendable (OutboxEntry<Payload>) -> Bool) -> Outbox {
    work.mayRepeat = mayRepeat
    return self
  }

  /// Tells one more observer what is decided, in order, on the thread of one of those who decide, with no lock held.
  @discardableResult
  public func onEvent(_ observer: @escaping @Sendable (OutboxEvent<Payload>) -> Void) -> Outbox {
    shared.observe(observer)
    return self
  }

  // MARK: What is there

  /// What it holds now, in numbers; all zero before its storage is read.
  public var state: OutboxState { shared.read { $0.inNumbers } }

  /// What it holds, in numbers, now and after every change.
  ///
  /// - Demand: A change that comes while nobody asks replaces the one that waits.
  /// - Failure: Never; nor does it finish.
  /// - Threads: The outbox's scheduler; what holds now comes where it is requested.
  public var states: AnyPublisher<OutboxState, Never> { numbers.subject.removeDuplicates().eraseToAnyPublisher() }

  /// What is not delivered yet, in order, that under way included.
  ///
  /// - Complexity: O(n log n).
  public var entries: [OutboxEntry<Payload>] { shared.read { $0.machine }.entries }

  /// What could not be delivered, in order.
  ///
  /// - Complexity: O(n log n).
  public var deadLetters: [OutboxDeadLetter<Payload>] { shared.read { $0.machine }.deadLetters }

  // MARK: Work

  func post(_ command: OutboxCommand<Payload>) {
    let isFirst = shared.change { state, _ in
      state.mailbox.append(command)
      return state.loop.enter()
    }
    if isFirst { scheduler.perform { self.turns.take({ self.workOff() }, asking: { self.scheduler.perform($0) }) } }
  }

  /// Does what there is to do; all that comes at the same time is stored at once.
  ///
  /// - Returns: Whether there may be more: commands that come as fast as they are carried out would keep the thread for ever.
  private func workOff() -> Bool {
    for _ in 0..<16 {
      guard let batch = nextBatch() else { return false }
      work.process(batch, of: self)
    }
    return true
  }

  private func nextBatch() -> [OutboxCommand<Payload>]? {
    shared.change { state, _ in state.loop.next(state.mailbox.isEmpty ? nil : state.takeMail()) }
  }

  /// What has come since the work began; for the work alone.
  func takeMail() -> [OutboxCommand<Payload>] {
    shared.change { state, _ in state.takeMail() }
  }

  func tellNumbers() {
    let now = state
    if numbers.subject.value != now { numbers.subject.send(now) }
  }
}
