import Combine
import Foundation
import Rebound

/// What an outbox does with its commands: stores what comes of them, and only then says so and acts on it.
///
/// Not Sendable: used by one thread at a time, as ``Outbox`` says.
final class OutboxWork<Payload: Codable & Sendable> {
  typealias Machine = OutboxMachine<Payload>

  private enum Phase {
    case unopened
    case open
    case closed
  }

  /// What comes of a batch, if it can be stored.
  private struct Plan {
    var machine: Machine
    var change = Machine.Change()
    var begun: [OutboxEntry<Payload>] = []
    /// Told with the failure to store it, or without one.
    var answers: [(OutboxFailure?) -> Void] = []
    var isPaused: Bool
    var isOnline: Bool
    /// Whom to tell that it is closed; `nil` if it stays open.
    var whenClosed: (() -> Void)?
  }

  private let storage: any OutboxStorage
  private var online: AnyPublisher<Bool, Never>?
  private let time: TimeSource
  private let wallClock: @Sendable () -> Date
  private let empty: Machine
  private let delivery: Outbox<Payload>.Delivery
  /// Whether an entry may be delivered twice.
  ///
  /// What may not is not sent before it is stored that it is.
  var mayRepeat: @Sendable (OutboxEntry<Payload>) -> Bool = { _ in true }
  private let coder = OutboxCoder<Payload>()

  private var phase = Phase.unopened
  private var deliveries: [OutboxEntryID: FirstValue<OutboxVerdict, Never>] = [:]
  private var timer: (any Cancellable)?
  private var connectivity: AnyCancellable?
  /// Records of other versions, which are stored again as they are.
  private var carried: [Data] = []
  /// How many records the storage holds, and from which count on it is worth while to replace them.
  private var recordCount = 0
  private var recordLimit = 0
  /// The same in bytes.
  private var byteCount = 0
  private var byteLimit = 0
  /// Whether a failure has left the storage behind what is known here.
  private var isBehind = false

  init(
    storage: any OutboxStorage,
    online: AnyPublisher<Bool, Never>?,
    time: TimeSource,
    wallClock: @escaping @Sendable () -> Date,
    empty: Machine,
    delivery: @escaping Outbox<Payload>.Delivery
  ) {
    self.storage = storage
    self.online = online
    self.time = time
    self.wallClock = wallClock
    self.empty = empty
    self.delivery = delivery
  }

  private var now: Machine.Moment { Machine.Moment(elapsed: time.now, date: wallClock()) }

  // MARK: A batch

  func process(_ batch: [OutboxCommand<Payload>], of outbox: Outbox<Payload>) {
    if phase == .closed { return refuse(batch, .closed) }
    var batch = batch
    if phase == .unopened, batch.contains(where: \.needsStorage) {
      do {
        try open(outbox)
        // Whether there is a network, before anything is sent for want of knowing it.
        batch += outbox.takeMail()
      } catch {
        outbox.shared.change { $1.append(.couldNotOpen(error)) }
        refuse(batch.filter(\.needsStorage), .storage(error))
        batch.removeAll(where: \.needsStorage)
      }
    }
    let end = batch.firstIndex(where: \.isClosing).map { $0 + 1 } ?? batch.endIndex
    carryOut(batch[..<end].map(Step.init), of: outbox)
    refuse(Array(batch[end...]), .closed)
  }

  /// A command whose payload is made: it must not be made twice.
  private struct Step {
    let command: OutboxCommand<Payload>
    var payload: Result<Payload, any Error>?

    init(_ command: OutboxCommand<Payload>) {
      self.command = command
      if case .enqueue(let draft, _) = command { payload = Result { try draft.make() } }
    }
  }

  private func carryOut(_ steps: [Step], of outbox: Outbox<Payload>) {
    guard !steps.isEmpty else { return }
    var plan = plan(steps, of: outbox)
    do {
      try store(plan)
    } catch {
      isBehind = true
      outbox.shared.change { $1.append(.storageFailed(error)) }
      // What the app has asked for has not happened; what has happened by itself has, whether it is stored or not.
      for answer in plan.answers { answer(.storage(error)) }
      plan = self.plan(steps.filter { !$0.command.isOfTheApp }, of: outbox, where: mayRepeat)
    }
    commit(plan, of: outbox)
  }

  /// - Parameter mayBegin: Whether an entry may be sent.
  private func plan(
    _ steps: [Step],
    of outbox: Outbox<Payload>,
    where mayBegin: (OutboxEntry<Payload>) -> Bool = { _ in true }
  ) -> Plan {
    var plan = outbox.shared.read { Plan(machine: $0.machine, isPaused: $0.isPaused, isOnline: $0.isOnline) }
    let now = now
    for step in steps { add(step, to: &plan, outbox, now) }
    guard phase == .open, plan.whenClosed == nil else { return plan }
    plan.machine.giveUp(at: now.date, &plan.change)
    if !plan.isPaused, plan.isOnline { plan.begun = plan.machine.begin(at: now, where: mayBegin, &plan.change) }
    return plan
  }

  private func add(_ step: Step, to plan: inout Plan, _ outbox: Outbox<Payload>, _ now: Machine.Moment) {
    switch step.command {
    case .start(let answer):
      plan.answers.append { answer($0.map { .failure($0) } ?? .success(())) }
    case .enqueue(let draft, let answer):
      guard let payload = step.payload else { return }
      let result = Result { try add(try payload.get(), draft, to: &plan, outbox, now) }
        .mapError { ($0 as? OutboxFull).map(OutboxFailure.full) ?? .unstorable($0) }
      plan.answers.append { answer($0.map { .failure($0) } ?? result) }
    case .cancel(let id, let answer):
      let outcome = plan.machine.cancel(id, &plan.change)
      plan.answers.append { answer($0.map { .failure($0) } ?? .success(outcome)) }
    case .revive(let id, let answer):
      let isThere = plan.machine.revive(id, date: now.date, &plan.change)
      plan.answers.append { answer($0.map { .failure($0) } ?? .success(isThere)) }
    case .discard(let id, let answer):
      let isThere = plan.machine.discard(id, &plan.change)
      plan.answers.append { answer($0.map { .failure($0) } ?? .success(isThere)) }
    case .pause(let isPaused):
      if plan.isPaused != isPaused { plan.change.events.append(.paused(isPaused)) }
      plan.isPaused = isPaused
    case .online(let isOnline):
      if plan.isOnline != isOnline {
        plan.change.events.append(.online(isOnline))
        if isOnline { plan.machine.wake(all: false) }
      }
      plan.isOnline = isOnline
    case .wake(let all):
      if all { plan.machine.wake(all: true) }
    case .verdict(let id, let verdict):
      plan.machine.settle(id, verdict, at: now, &plan.change)
    case .close(let answer):
      plan.whenClosed = { answer(.success(())) }
    }
  }

  private func add(
    _ payload: Payload,
    _ draft: OutboxDraft<Payload>,
    to plan: inout Plan,
    _ outbox: Outbox<Payload>,
    _ now: Machine.Moment
  ) throws -> OutboxEntry<Payload> {
    // Zero is over at once, as less is.
    let life = draft.options.timeToLive?.clampedToDelay.inSeconds
    let entry = plan.machine.draft(
      payload,
      key: draft.key,
      idempotencyKey: draft.options.idempotencyKey ?? outbox.random.idempotencyKey(),
      timeToLive: life,
      date: now.date
    )
    let replaced = draft.options.replacesWaiting ? plan.machine.waiting(for: draft.key) : []
    let size = try coder.data(of: .add(entry: entry, replaces: replaced, timeToLive: life)).count
    try plan.machine.add(entry, replacing: replaced, timeToLive: life, size: size, &plan.change)
    return entry
  }

  private func refuse(_ batch: [OutboxCommand<Payload>], _ failure: OutboxFailure) {
    for command in batch {
      switch command {
      case .start(let answer): answer(.failure(failure))
      case .enqueue(_, let answer): answer(.failure(failure))
      case .cancel(_, let answer): answer(.failure(failure))
      case .revive(_, let answer), .discard(_, let answer): answer(.failure(failure))
      case .close(let answer): answer(.success(()))
      case .pause, .online, .wake, .verdict: break
      }
    }
  }

  private func commit(_ plan: Plan, of outbox: Outbox<Payload>) {
    var machine = plan.machine
    if plan.whenClosed != nil { machine.interrupt() }
    // What was there before is released with the lock open.
    let before = outbox.shared.change { state, events in
      let before = state.machine
      state.machine = machine
      (state.isPaused, state.isOnline) = (plan.isPaused, plan.isOnline)
      for event in plan.change.events { events.append(event) }
      return before
    }
    withExtendedLifetime(before) {}
    outbox.tellNumbers()
    for (id, delivery) in deliveries where !plan.machine.isUnderWay(id) {
      deliveries[id] = nil
      delivery.cancel()
    }
    if plan.whenClosed != nil { end() }
    for answer in plan.answers { answer(nil) }
    plan.whenClosed?()
    guard phase == .open else { return }
    for entry in plan.begun { deliver(entry, of: outbox) }
    setTimer(for: plan, of: outbox)
  }

  // MARK: Storage

  private func open(_ outbox: Outbox<Payload>) throws {
    let contents = try storage.open()
    let restored = OutboxRestoration(contents, into: empty, repeating: mayRepeat)
    phase = .open
    carried = restored.carried.map(\.record)
    (recordCount, byteCount) = (contents.records.count, Self.size(contents.records))
    setLimits(restored.machine, bytes: restored.machine.totalSize + Self.size(carried))
    outbox.shared.change { state, events in
      state.machine = restored.machine
      events.append(
        .opened(
          pending: restored.machine.pendingCount,
          deadLetters: restored.machine.deadCount,
          interrupted: restored.interrupted.count,
          damage: restored.damage
        )
      )
    }
    // Not before it is told, since nobody could tell it after that.
    if restored.hasLostLines {
      isBehind = true
      do { try rewrite(restored.machine) } catch { outbox.shared.change { $1.append(.storageFailed(error)) } }
    }
    connectivity = online?.sink { [weak outbox] isOnline in outbox?.post(.online(isOnline)) }
    online = nil
  }

  private func store(_ plan: Plan) throws {
    guard phase == .open, !plan.change.records.isEmpty || (isBehind && plan.whenClosed != nil) else { return }
    var refusal: (any Error)?
    if isBehind || recordCount + plan.change.records.count > recordLimit || byteCount > byteLimit {
      do {
        return try rewrite(plan.machine)
      } catch  where !isBehind {
        // There may be too little room for a second file, but enough for a few lines more. Not tried again too soon.
        recordLimit *= 2
        byteLimit *= 2
        refusal = error
      }
    }
    let isDurable = plan.change.records.contains(where: \.isDurable) || plan.begun.contains { !mayRepeat($0) }
    // A storage that has failed halfway takes nothing more, and says no more than that.
    do { try append(plan.change.records, durably: isDurable) } catch { throw refusal ?? error }
  }

  /// Writes down all that is there, in the place of all records.
  private func rewrite(_ machine: Machine) throws {
    let records = try carried + machine.records.map(coder.data)
    try storage.replace(with: records)
    isBehind = false
    (recordCount, byteCount) = (records.count, Self.size(records))
    setLimits(machine, bytes: byteCount)
  }

  private func append(_ records: [OutboxRecord<Payload>], durably isDurable: Bool) throws {
    let records = try records.map(coder.data)
    try storage.append(records, durably: isDurable)
    recordCount += records.count
    byteCount += Self.size(records)
  }

  private static func size(_ records: [Data]) -> Int { records.reduce(0) { $0 + $1.count } }

  /// A journal four times as long as what it says is worth to be written anew.
  ///
  /// - Parameter bytes: How many it takes to say that.
  private func setLimits(_ machine: Machine, bytes: Int) {
    recordLimit = max(4 * (machine.pendingCount + 2 * machine.deadCount + carried.count), 256)
    byteLimit = max(4 * bytes, 1 << 20)
  }

  /// Cancels what is under way, and leaves the storage.
  func end() {
    let (deliveries, wasOpen) = (deliveries, phase == .open)
    self.deliveries = [:]
    phase = .closed
    connectivity = nil
    timer?.cancel()
    timer = nil
    for delivery in deliveries.values { delivery.cancel() }
    if wasOpen { storage.close() }
  }

  // MARK: Deliveries

  private func deliver(_ entry: OutboxEntry<Payload>, of outbox: Outbox<Payload>) {
    let id = entry.id
    let verdict = FirstValue<OutboxVerdict, Never> { [weak outbox] result in
      switch result {
      case .success(let verdict): outbox?.post(.verdict(id, verdict ?? .tryLater(OutboxWithoutVerdict())))
      }
    }
    deliveries[id] = verdict
    delivery(entry, verdict)
  }

  private func setTimer(for plan: Plan, of outbox: Outbox<Payload>) {
    timer?.cancel()
    let due = plan.machine.nextDue(after: now, delivers: !plan.isPaused && plan.isOnline)
    timer = due.map { time.after($0) { [weak outbox] in outbox?.post(.wake(all: false)) } }
  }
}

extension OutboxCommand {
  /// Whether it needs what is stored.
  fileprivate var needsStorage: Bool {
    switch self {
    case .start, .enqueue, .cancel, .revive, .discard, .wake, .verdict: true
    case .pause, .online, .close: false
    }
  }

  /// Whether the app waits to hear that it is stored.
  fileprivate var isOfTheApp: Bool {
    switch self {
    case .start, .enqueue, .cancel, .revive, .discard: true
    case .pause, .online, .wake, .verdict, .close: false
    }
  }

  fileprivate var isClosing: Bool {
    if case .close = self { true } else { false }
  }
}

extension RandomSource {
  /// 128 random bits in hexadecimal digits.
  fileprivate func idempotencyKey() -> String {
    // A draw has 53 random bits, of which 32 are taken each time.
    (0..<4).map { _ in UInt32(next() * 0x1p32).hexadecimal }.joined()
  }
}
