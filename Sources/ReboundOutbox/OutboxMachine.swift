import Foundation
import Rebound

/// What an outbox holds, and what becomes of it: event in, records and events out.
///
/// A plain value without clock, storage or lock. An outbox changes a copy, stores the records of the change, and only
/// then takes the copy for its own: what could not be stored has not happened.
///
/// - Complexity: A change is O(n) in the entries, since all of them are looked at for those that are due.
struct OutboxMachine<Payload: Codable & Sendable>: Sendable {
  typealias Entry = OutboxEntry<Payload>
  typealias DeadLetter = OutboxDeadLetter<Payload>

  /// What a change adds to the journal, and tells.
  struct Change {
    var records: [OutboxRecord<Payload>] = []
    var events: [OutboxEvent<Payload>] = []
  }

  /// The present, as it is measured and by the device's clock.
  struct Moment {
    let elapsed: Duration
    let date: Date
  }

  private struct Lane {
    /// What waits, in order.
    var waiting: [OutboxEntryID] = []
    var underWay: OutboxEntryID?
    /// Until when nothing is sent after a failure, and whether a network ends that.
    var pause: (until: Duration, endsOnline: Bool)?
    /// The pauses of failures in a row; `nil` after a success.
    var delays: Backoff.Delays?
  }

  private let policy: OutboxPolicy
  private let random: RandomSource
  private var lanes: [String: Lane] = [:]
  private var pending: [OutboxEntryID: Entry] = [:]
  private var dead: [OutboxEntryID: DeadLetter] = [:]
  private var sizes: [OutboxEntryID: Int] = [:]
  /// How many seconds those may wait that do not go by the policy.
  private var lives: [OutboxEntryID: TimeInterval] = [:]
  /// How many bytes the records take that have added what is there.
  private(set) var totalSize = 0
  private(set) var underWayCount = 0
  private(set) var nextNumber: UInt64 = 1

  /// More numbers than any outbox gives; one that is larger was never given, and would leave none for the next.
  static var lastNumber: UInt64 { 1 << 63 }

  init(_ policy: OutboxPolicy, random: RandomSource) {
    self.policy = policy
    self.random = random
  }

  // MARK: What is there

  var pendingCount: Int { pending.count }
  var deadCount: Int { dead.count }
  /// Those that are not delivered, in order.
  var entries: [Entry] { pending.values.sorted { $0.id < $1.id } }
  var deadLetters: [DeadLetter] { dead.values.sorted { $0.id < $1.id } }

  func isUnderWay(_ id: OutboxEntryID) -> Bool {
    guard let entry = pending[id] else { return false }
    return lanes[entry.key]?.underWay == id
  }

  /// The fewest records that lead to the same.
  var records: [OutboxRecord<Payload>] {
    let all = (pending.values.map(beforeAttempt) + dead.values.map(\.entry)).sorted { $0.id < $1.id }
    return [.number(next: nextNumber)] + all.map { .add(entry: $0, replaces: [], timeToLive: lives[$0.id]) }
      + lanes.values.compactMap(\.underWay).sorted().map { .begin(id: $0) }
      + deadLetters.map { .bury(id: $0.id, reason: $0.reason, failure: .init(text: $0.text, date: $0.date)) }
  }

  /// An entry without the attempt that is under way, which is told by a record of its own.
  private func beforeAttempt(_ entry: Entry) -> Entry {
    guard isUnderWay(entry.id) else { return entry }
    var before = entry
    before.discountAttempt()
    return before
  }

  // MARK: The app

  /// The next entry, which is not there before it is added.
  func draft(_ payload: Payload, key: String, idempotencyKey: String, timeToLive: TimeInterval?, date: Date) -> Entry {
    Entry(
      id: OutboxEntryID(nextNumber),
      key: key,
      payload: payload,
      idempotencyKey: idempotencyKey,
      enqueuedAt: date,
      expiresAt: expiry(timeToLive, date)
    )
  }

  /// - Parameter timeToLive: The entry's own; `nil` for the policy's.
  private func expiry(_ timeToLive: TimeInterval?, _ date: Date) -> Date? {
    (timeToLive ?? policy.timeToLive?.inSeconds).map { date + $0 }
  }

  /// Those that an entry of this key would replace: all but one under way, which may have arrived.
  func waiting(for key: String) -> [OutboxEntryID] { lanes[key]?.waiting ?? [] }

  mutating func add(
    _ entry: Entry,
    replacing replaced: [OutboxEntryID],
    timeToLive: TimeInterval? = nil,
    size: Int,
    _ change: inout Change
  ) throws(OutboxFull) {
    let freed = replaced.reduce(0) { $0 + (sizes[$1] ?? 0) }
    let count = pending.count + dead.count - replaced.count
    guard count < policy.capacity, totalSize - freed + size <= policy.maxBytes else {
      throw OutboxFull(
        pending: pending.count,
        deadLetters: dead.count,
        bytes: totalSize,
        capacity: policy.capacity,
        maxBytes: policy.maxBytes
      )
    }
    change.events += replaced.compactMap { id in pending[id].map { OutboxEvent.replaced($0, by: entry.id) } }
    apply(.add(entry: entry, replaces: replaced, timeToLive: timeToLive), size: size, .enqueued(entry), &change)
  }

  mutating func cancel(_ id: OutboxEntryID, _ change: inout Change) -> OutboxCancellation {
    guard let entry = pending[id] else { return .notThere }
    let outcome: OutboxCancellation = entry.attempts > 0 || isUnderWay(id) ? .cancelledTooLate : .cancelled
    apply(.remove(id: id), .cancelled(entry, outcome), &change)
    return outcome
  }

  mutating func revive(_ id: OutboxEntryID, date: Date, _ change: inout Change) -> Bool {
    let expiresAt = expiry(lives[id], date)
    guard let entry = resurrect(id, expiresAt: expiresAt) else { return false }
    change.records.append(.revive(id: id, expiresAt: expiresAt))
    change.events.append(.revived(entry))
    return true
  }

  mutating func discard(_ id: OutboxEntryID, _ change: inout Change) -> Bool {
    guard let letter = dead[id] else { return false }
    apply(.remove(id: id), .discarded(letter), &change)
    return true
  }

  // MARK: Deliveries

  /// Gives up what has expired, and what was under way for the last time when the process ended.
  mutating func giveUp(at date: Date, _ change: inout Change) {
    let given = pending.values.filter { (isExpired($0, date) || isExhausted($0)) && !isUnderWay($0.id) }
    for entry in given.sorted(by: { $0.id < $1.id }) {
      if isExpired(entry, date) {
        bury(entry.id, .expired, entry.lastSetback?.text ?? "its time was over before it was sent", date, &change)
      } else {
        bury(entry.id, .attemptsUsedUp, entry.lastSetback?.text ?? "nothing is known of the last one", date, &change)
      }
    }
  }

  /// Takes those whose turn it is, the oldest first.
  ///
  /// - Parameter mayBegin: Whether an entry may be sent now; if not, its key waits as after a failure.
  mutating func begin(
    at now: Moment,
    where mayBegin: (Entry) -> Bool = { _ in true },
    _ change: inout Change
  ) -> [Entry] {
    var turns: [OutboxEntryID] = []
    for (key, lane) in lanes {
      if let pause = lane.pause, pause.until <= now.elapsed { lanes[key]?.pause = nil }
      guard lanes[key]?.pause == nil, lane.underWay == nil else { continue }
      if let first = lane.waiting.first { turns.append(first) } else { lanes[key] = nil }
    }
    var begun: [Entry] = []
    for id in turns.sorted() where underWayCount < policy.maxConcurrent {
      guard var entry = pending[id] else { continue }
      guard mayBegin(entry) else {
        _ = pause(entry.key, endsOnline: false, now)
        continue
      }
      entry.countAttempt()
      pending[id] = entry
      lanes[entry.key]?.waiting.removeFirst()
      lanes[entry.key]?.underWay = id
      underWayCount += 1
      change.records.append(.begin(id: id))
      change.events.append(.began(entry))
      begun.append(entry)
    }
    return begun
  }

  /// Takes what came of an attempt.
  mutating func settle(_ id: OutboxEntryID, _ verdict: OutboxVerdict, at now: Moment, _ change: inout Change) {
    guard let entry = pending[id], isUnderWay(id) else { return }
    switch verdict {
    case .delivered:
      apply(.remove(id: id), .delivered(entry), &change)
      succeed(entry.key)
    case .refused(let error):
      land(id)
      succeed(entry.key)
      bury(id, .refused, "\(error)", now.date, &change)
    case .unreachable(let error, let hint):
      postpone(id, error, hint: hint, counts: false, now, &change)
    case .tryLater(let error, let hint):
      postpone(id, error, hint: hint, counts: true, now, &change)
    }
  }

  /// Ends the pauses that a network ends; all of them if the app says so.
  mutating func wake(all: Bool) {
    for (key, lane) in lanes where lane.pause.map({ all || $0.endsOnline }) ?? false { lanes[key]?.pause = nil }
  }

  /// How long nothing happens by itself; `nil` for ever.
  ///
  /// - Parameter delivers: Whether the end of a pause makes something happen.
  func nextDue(after now: Moment, delivers: Bool) -> Duration? {
    let pauses = lanes.values.compactMap { delivers && !$0.waiting.isEmpty ? $0.pause?.until : nil }
    let expiries = pending.values.compactMap { isUnderWay($0.id) ? nil : $0.expiresAt }
    let untilExpiry = expiries.min().map {
      // Rounded to nothing, the timer would fire again and again without time going on.
      max(Duration(saturatingSeconds: $0.timeIntervalSince(now.date)), .milliseconds(1))
    }
    return [pauses.min().map { max($0 - now.elapsed, .zero) }, untilExpiry].compactMap(\.self).min()
  }

  private mutating func postpone(
    _ id: OutboxEntryID,
    _ error: any Error,
    hint: Duration?,
    counts: Bool,
    _ now: Moment,
    _ change: inout Change
  ) {
    guard var entry = pending[id] else { return }
    let setback = Entry.Setback(text: "\(error)", date: now.date)
    if !counts { entry.discountAttempt() }
    entry.lastSetback = setback
    pending[id] = entry
    land(id)
    // Also of one that is buried for it: what is known of a dead letter is what all its records say.
    change.records.append(.fail(id: id, failure: setback, counts: counts))
    // A hint that no notice is taken of, or that asks for nothing, keeps no network from ending the pause.
    let hint = hint.map { min($0, policy.maxHint) }.flatMap { $0 > .zero ? $0 : nil }
    let delay = pause(entry.key, hint: hint, endsOnline: hint == nil, now)
    // The pause is the key's: whatever becomes of this entry, the other side is in trouble.
    if isExpired(entry, now.date) {
      bury(id, .expired, setback.text, now.date, &change)
    } else if isExhausted(entry) {
      bury(id, .attemptsUsedUp, setback.text, now.date, &change)
    } else {
      change.events.append(.postponed(entry, error, delay: delay))
    }
  }

  /// Has a key wait after a failure, and says how long.
  private mutating func pause(_ key: String, hint: Duration? = nil, endsOnline: Bool, _ now: Moment) -> Duration {
    var delays = lanes[key]?.delays ?? policy.backoff.delays(random: random)
    // Without any pause, a failure that comes at once would be followed by the next for ever, without time going on.
    let delay = max(delays.nextStep().delay, hint ?? .zero, .milliseconds(1))
    lanes[key]?.delays = delays
    lanes[key]?.pause = (now.elapsed + delay, endsOnline: endsOnline)
    return delay
  }

  private func isExpired(_ entry: Entry, _ date: Date) -> Bool { entry.expiresAt.map { $0 <= date } ?? false }

  private func isExhausted(_ entry: Entry) -> Bool { policy.maxAttempts.map { entry.attempts >= $0 } ?? false }

  private mutating func succeed(_ key: String) {
    lanes[key]?.delays = nil
    lanes[key]?.pause = nil
  }

  private mutating func bury(
    _ id: OutboxEntryID,
    _ reason: DeadLetter.Reason,
    _ text: String,
    _ date: Date,
    _ change: inout Change
  ) {
    let setback = Entry.Setback(text: text, date: date)
    guard let letter = entomb(id, reason, setback) else { return }
    change.records.append(.bury(id: id, reason: reason, failure: setback))
    change.events.append(.buried(letter))
  }

  // MARK: Bookkeeping

  /// Does what a record says, notes it, and tells of it.
  private mutating func apply(
    _ record: OutboxRecord<Payload>,
    size: Int = 0,
    _ event: OutboxEvent<Payload>,
    _ change: inout Change
  ) {
    replay(record, size: size)
    change.records.append(record)
    change.events.append(event)
  }

  /// Puts an entry in its place among those of its key.
  private mutating func queue(_ entry: Entry) {
    var lane = lanes[entry.key] ?? Lane()
    let place = lane.waiting.lastIndex { $0 < entry.id }.map { $0 + 1 } ?? 0
    lane.waiting.insert(entry.id, at: place)
    lanes[entry.key] = lane
  }

  /// Takes nothing for under way any more; all of it waits in its place again.
  mutating func interrupt() {
    for id in lanes.values.compactMap(\.underWay) { land(id) }
  }

  /// Puts the entry under way back in its place: the front, unless an earlier one was revived meanwhile.
  private mutating func land(_ id: OutboxEntryID) {
    guard let entry = pending[id], isUnderWay(id) else { return }
    lanes[entry.key]?.underWay = nil
    underWayCount -= 1
    queue(entry)
  }

  private mutating func remove(_ id: OutboxEntryID) {
    land(id)
    if let entry = pending.removeValue(forKey: id) { lanes[entry.key]?.waiting.removeAll { $0 == id } }
    (dead[id], lives[id]) = (nil, nil)
    totalSize -= sizes.removeValue(forKey: id) ?? 0
  }

  private mutating func entomb(
    _ id: OutboxEntryID,
    _ reason: DeadLetter.Reason,
    _ setback: Entry.Setback
  ) -> DeadLetter? {
    land(id)
    guard let entry = pending.removeValue(forKey: id) else { return nil }
    lanes[entry.key]?.waiting.removeAll { $0 == id }
    let letter = DeadLetter(entry: entry, reason: reason, text: setback.text, date: setback.date)
    dead[id] = letter
    return letter
  }

  private mutating func resurrect(_ id: OutboxEntryID, expiresAt: Date?) -> Entry? {
    guard var entry = dead.removeValue(forKey: id)?.entry else { return nil }
    entry.attempts = 0
    entry.expiresAt = expiresAt
    pending[id] = entry
    queue(entry)
    return entry
  }

  // MARK: After a restart

  /// Does again what a record says.
  ///
  /// - Parameter size: How many bytes the record has.
  mutating func replay(_ record: OutboxRecord<Payload>, size: Int) {
    switch record {
    case .add(let entry, let replaced, let life):
      for id in replaced + [entry.id] { remove(id) }
      pending[entry.id] = entry
      lives[entry.id] = life
      sizes[entry.id] = size
      totalSize += size
      nextNumber = max(nextNumber, entry.id.number + 1)
      queue(entry)
    case .begin(let id):
      pending[id]?.countAttempt()
    case .fail(let id, let setback, let counts):
      if !counts { pending[id]?.discountAttempt() }
      pending[id]?.lastSetback = setback
    case .remove(let id):
      remove(id)
    case .bury(let id, let reason, let setback):
      _ = entomb(id, reason, setback)
    case .revive(let id, let expiresAt):
      _ = resurrect(id, expiresAt: expiresAt)
    case .number(let next):
      nextNumber = max(nextNumber, next)
    }
  }
}
