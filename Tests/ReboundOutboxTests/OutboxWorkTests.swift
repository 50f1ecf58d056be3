import Combine
import Expectations
import Foundation
import Rebound
import ReboundOutbox
import ReboundTesting
import StreamSupport
import Testing

@Suite("Outbox: its storage")
struct OutboxWorkTests {
  @Test("what cannot be stored is refused, and what is known catches up with the storage later")
  func storageFails() throws {
    let disk = SimulatedDisk(seed: 0)
    let test = OutboxUnderTest(storage: FileOutboxStorage(path: "/box", disk: disk))
    test.receiver.program("a", .after(.seconds(1), .delivered))
    test.enqueue("a")
    disk.refuse(call: 1)
    // The verdict cannot be written down, but it is known.
    test.scheduler.advance(by: .seconds(1))
    #expect(test.outbox.state.isEmpty)
    #expect(test.log.lines.contains { $0.hasPrefix("storage failed") })
    disk.refuse(call: 1)
    guard case .failure(.storage) = test.enqueue("b") else {
      Issue.record("it was stored on a disk that refuses")
      return
    }
    expectEqual(test.receiver.payloads, ["a"])
    #expect(try test.enqueue("c")?.get() != nil)
    disk.restart(losingPower: true)
    let next = OutboxUnderTest(storage: FileOutboxStorage(path: "/box", disk: disk))
    next.outbox.start()
    next.scheduler.advance()
    #expect(next.receiver.payloads.isEmpty)
    #expect(next.outbox.state.isEmpty)
  }

  @Test(
    "that something is sent which must not be sent twice survives the end of the process and the loss of power",
    arguments: [false, true]
  )
  func durableBeginning(losingPower: Bool) {
    for seed in UInt64(0)..<20 {
      let disk = SimulatedDisk(seed: seed)
      let test = OutboxUnderTest(storage: disk.outboxStorage(at: "/box"), mayRepeat: { _ in false })
      test.receiver.programAll { _ in .never }
      // So that it begins apart from being stored.
      test.outbox.pause()
      test.enqueue("a")
      test.outbox.resume()
      test.scheduler.advance()
      expectEqual(test.receiver.payloads, ["a"])
      disk.restart(losingPower: losingPower)
      let next = OutboxUnderTest(storage: disk.outboxStorage(at: "/box"), mayRepeat: { _ in false })
      next.outbox.pause()
      next.outbox.start()
      next.scheduler.advance()
      expectEqual(next.outbox.entries.map(\.attempts), [1], "seed \(seed)")
    }
  }

  @Test("what must not be sent twice waits while the storage fails, and is sent once that works again")
  func unstoredBeginning() {
    let disk = SimulatedDisk(seed: 0)
    let test = OutboxUnderTest(storage: disk.outboxStorage(at: "/box"), mayRepeat: { $0.payload != "once" })
    test.outbox.pause()
    test.enqueue("once", key: "a")
    test.enqueue("often", key: "b")
    disk.faultRate = 1
    test.outbox.resume()
    test.scheduler.advance(by: .seconds(25))
    expectEqual(test.receiver.timed, ["often at 0.0"])
    expectEqual(test.outbox.state, OutboxState(pending: 1))
    disk.faultRate = 0
    // The pause is that after a failure.
    test.scheduler.advance(by: .seconds(10))
    expectEqual(test.receiver.timed, ["often at 0.0", "once at 30.0"])
    #expect(test.outbox.state.isEmpty)
  }

  @Test("commands that come as fast as they are carried out leave whoever else uses its scheduler a turn")
  func turns() {
    let test = OutboxUnderTest(.steady(capacity: 200))
    // Each is delivered at once, which is a command for the next.
    for number in 0..<200 {
      _ = test.outbox.enqueueing("\(number)", key: "k").sink(receiveCompletion: { _ in }) { _ in }
    }
    let others = EventLog<Int>()
    test.scheduler.schedule { others.write(test.receiver.payloads.count) }
    test.scheduler.advance()
    #expect((1..<50).contains(others.entries.first ?? 0))
    expectEqual(test.receiver.payloads.count, 200)
  }

  @Test("a storage in use is an error for each who asks, until it is free")
  func inUse() throws {
    let storage = InMemoryOutboxStorage()
    _ = try storage.open()
    let test = OutboxUnderTest(storage: storage)
    let refusal = OutboxFailure.storage(OutboxStorageFailure.inUse("The storage in memory"))
    expectEqual(test.enqueue("a")?.failureText, "\(refusal)")
    expectEqual(test.log.events.map(\.severity), [.error])
    storage.close()
    #expect(try test.enqueue("a")?.get() != nil)
    expectEqual(test.receiver.payloads, ["a"])
  }

  @Test("what comes at the same time is stored by one call")
  func groups() {
    let storage = CountingStorage()
    let test = OutboxUnderTest(storage: storage)
    test.receiver.programAll { _ in .never }
    for number in 0..<50 {
      test.outbox.enqueueing("\(number)", key: "k").subscribe(Recorder<OutboxEntry<String>, OutboxFailure>())
    }
    test.scheduler.advance()
    expectEqual(storage.appends, [51])
    expectEqual(test.outbox.state.pending, 50)
  }

  @Test("the journal of many entries that came and went stays short")
  func compacts() throws {
    let storage = CountingStorage()
    let test = OutboxUnderTest(storage: storage)
    for number in 0..<1_000 { test.enqueue("\(number)", key: "\(number % 7)") }
    expectEqual(test.receiver.payloads.count, 1_000)
    #expect(storage.kept.records.count < 300)
    #expect(storage.replacements > 5)
    // A number is never used twice, also when nothing is left of those before.
    let next = try test.enqueue("last")?.get().id
    expectEqual(next, OutboxEntryID(1_001))
  }

  @Test("the journal of a few large entries that came and went stays short, too")
  func compactsLargeEntries() {
    let storage = CountingStorage()
    let test = OutboxUnderTest(storage: storage)
    let photo = String(repeating: "x", count: 500_000)
    var largest = 0
    for _ in 0..<40 {
      test.enqueue(photo)
      largest = max(largest, storage.kept.records.reduce(0) { $0 + $1.count })
    }
    expectEqual(test.receiver.payloads.count, 40)
    #expect(largest < 2 << 20)
  }

  @Test("large entries that are there to stay do not have the journal written anew each time")
  func keepsLargeEntries() {
    let storage = CountingStorage()
    let test = OutboxUnderTest(.steady(maxBytes: 1 << 26), storage: storage)
    test.receiver.programAll { _ in .never }
    let photo = String(repeating: "x", count: 500_000)
    for _ in 0..<40 { test.enqueue(photo) }
    expectEqual(test.outbox.state.pending, 40)
    // As it has grown to four times its size, and again.
    #expect((1...3).contains(storage.replacements))
  }

  @Test("a journal that cannot be written anew grows to twice its size until that is tried again")
  func cannotCompact() {
    let storage = CountingStorage(isReplaceable: false)
    let test = OutboxUnderTest(storage: storage)
    let photo = String(repeating: "x", count: 500_000)
    for _ in 0..<40 { test.enqueue(photo) }
    expectEqual(test.receiver.payloads.count, 40)
    #expect((1...6).contains(storage.replacements))
  }

  @Test("what was under way when the process ended is said to be, also if the journal was written anew meanwhile")
  func compactsWhatIsUnderWay() {
    let storage = CountingStorage()
    let scheduler = TestScheduler()
    let receiver = Receiver(on: scheduler)
    receiver.program("a", .never)
    receiver.program("b", .now(.tryLater(TestFailure.transient)), .never)
    var first: OutboxUnderTest? = OutboxUnderTest(storage: storage, scheduler: scheduler, receiver: receiver)
    first?.enqueue("a", key: "a")
    first?.enqueue("b", key: "b")
    scheduler.advance(by: .seconds(10))
    let before = first?.outbox.entries
    expectEqual(before?.map(\.attempts), [1, 2])
    for number in 0..<200 { first?.enqueue("\(number)") }
    #expect(storage.replacements > 0)
    expectEqual(first?.outbox.state.delivering, 2)
    first = nil
    let second = OutboxUnderTest(storage: storage, scheduler: scheduler, receiver: receiver)
    second.outbox.pause()
    second.outbox.start()
    scheduler.advance()
    #expect(second.log.lines.contains("opened with 2 pending, 2 of them to be sent again, 0 dead letters"))
    expectEqual(second.outbox.entries, before)
  }

  @Test("numbers go on after a restart, when nothing is left of those before")
  func numbering() throws {
    let storage = InMemoryOutboxStorage()
    do {
      let test = OutboxUnderTest(storage: storage)
      for number in 0..<200 { test.enqueue("\(number)") }
    }
    let test = OutboxUnderTest(storage: storage)
    try expectEqual(test.enqueue("a")?.get().id, OutboxEntryID(201))
  }

  /// A disk with an outbox that has stored these payloads, one of which is damaged.
  private func damagedDisk(storing payloads: [String], damaged text: String) throws -> SimulatedDisk {
    let disk = SimulatedDisk(seed: 0)
    do {
      let test = OutboxUnderTest(storage: disk.outboxStorage(at: "/box"))
      test.outbox.pause()
      for payload in payloads { test.enqueue(payload) }
    }
    try damage(disk, text)
    return disk
  }

  /// Has the line with this text read as another than it was written.
  private func damage(_ disk: SimulatedDisk, _ text: String) throws {
    var journal = try #require(try disk.read("/box"))
    journal[try #require(journal.range(of: Data(text.utf8))?.lowerBound)] ^= 1
    let file = try disk.create("/box")
    try file.write(journal)
    try file.sync()
    try disk.syncFolder(of: "/box")
  }

  @Test("the number of an entry that is damaged is given to no other, also not after one more restart")
  func numberOfDamage() throws {
    let disk = try damagedDisk(storing: ["one", "two"], damaged: "two")
    for _ in 0..<2 {
      let test = OutboxUnderTest(storage: disk.outboxStorage(at: "/box"))
      test.outbox.pause()
      test.outbox.start()
      test.scheduler.advance()
      expectEqual(test.outbox.entries.map(\.payload), ["one"])
    }
    let test = OutboxUnderTest(storage: disk.outboxStorage(at: "/box"))
    try expectEqual(test.enqueue("three")?.get().id, OutboxEntryID(2 + 1 << 20))
  }

  @Test("what must not be sent twice has its attempt counted where the line is damaged that says that it was sent")
  func attemptOfDamage() throws {
    let disk = SimulatedDisk(seed: 0)
    do {
      let test = OutboxUnderTest(storage: disk.outboxStorage(at: "/box"), mayRepeat: { _ in false })
      test.receiver.programAll { _ in .never }
      test.enqueue("once")
      expectEqual(test.receiver.payloads, ["once"])
    }
    try damage(disk, "\"begin\"")
    for _ in 0..<2 {
      let test = OutboxUnderTest(storage: disk.outboxStorage(at: "/box"), mayRepeat: { _ in false })
      test.outbox.pause()
      test.outbox.start()
      test.scheduler.advance()
      // Behind one attempt, whoever delivers it does not send it.
      expectEqual(test.outbox.entries.map(\.attempts), [1])
    }
  }

  @Test(
    "damage is told to somebody before it is mended, whichever call fails and whenever power goes or the process ends"
  )
  func toldDamage() throws {
    for call in 1...12 {
      for fault in ["refused", "power lost"] {
        let disk = try damagedDisk(storing: ["one", "two"], damaged: "two")
        var told: [String] = []
        for life in 0..<3 {
          switch fault {
          case _ where life > 0: break
          case "refused": disk.refuse(call: call)
          default: disk.losePower(inCall: call)
          }
          let test = OutboxUnderTest(storage: disk.outboxStorage(at: "/box"))
          test.outbox.pause()
          for _ in 0..<2 {
            test.outbox.start()
            test.scheduler.advance()
          }
          told += test.log.lines.filter { $0.contains("damaged lines (3)") }
          disk.restart(losingPower: fault != "refused")
        }
        #expect(!told.isEmpty, "call \(call), \(fault)")
        let test = OutboxUnderTest(storage: disk.outboxStorage(at: "/box"))
        try expectEqual(test.enqueue("three")?.get().id, OutboxEntryID(2 + 1 << 20), "call \(call), \(fault)")
        expectEqual(test.receiver.payloads, ["one", "three"], "call \(call), \(fault)")
        // Mended for good.
        #expect(!test.log.lines.contains { $0.contains("damaged lines") }, "call \(call), \(fault)")
      }
    }
  }

  @Test("a journal that could not be written anew, and then takes nothing more, is told with what was wrong first")
  func firstFailure() {
    let test = OutboxUnderTest(storage: CountingStorage(isReplaceable: false, failsHalfway: true))
    for number in 0..<200 { test.enqueue("\(number)") }
    let told = test.log.lines.first { $0.hasPrefix("storage failed") }
    expectEqual(told, "storage failed: \(TestFailure.transient)")
  }

  @Test("an entry that this version cannot decode is reported, not delivered, and stays for one that can")
  func unreadable() throws {
    let storage = InMemoryOutboxStorage()
    let scheduler = TestScheduler()
    do {
      let later = Outbox<[String: Int]>(
        "later",
        storage: storage,
        scheduler: scheduler,
        deliveringWith: { _ in Empty(completeImmediately: false).eraseToAnyPublisher() }
      )
      later.enqueueing(["a": 1], key: "k").subscribe(Recorder<OutboxEntry<[String: Int]>, OutboxFailure>())
      scheduler.advance()
    }
    do {
      let test = OutboxUnderTest(storage: storage, scheduler: scheduler)
      try expectEqual(test.enqueue("b")?.get().id, OutboxEntryID(2))
      expectEqual(test.receiver.payloads, ["b"])
      expectEqual(test.log.lines.first?.contains("entries that cannot be decoded (1) stay stored"), true)
      expectEqual(test.log.events.first?.severity, .error)
      for number in 0..<200 { test.enqueue("\(number)") }
    }
    let delivered = Log<[String: Int]>()
    let later = Outbox<[String: Int]>(
      "later",
      storage: storage,
      scheduler: scheduler,
      deliveringWith: { entry in
        delivered.write(entry.payload)
        return Just(.delivered).eraseToAnyPublisher()
      }
    )
    later.start()
    scheduler.advance()
    expectEqual(delivered.entries, [["a": 1]])
  }

  @Test("a payload that cannot be encoded is refused, and harms nothing")
  func unencodable() throws {
    let scheduler = TestScheduler()
    let outbox = Outbox<Double>(
      "test",
      storage: InMemoryOutboxStorage(),
      scheduler: scheduler,
      deliveringWith: { _ in Empty(completeImmediately: false).eraseToAnyPublisher() }
    )
    let (bad, good) = (Recorder<OutboxEntry<Double>, OutboxFailure>(), Recorder<OutboxEntry<Double>, OutboxFailure>())
    outbox.enqueueing(.nan, key: "k").subscribe(bad)
    outbox.enqueueing(1, key: "k").subscribe(good)
    scheduler.advance()
    guard case .failure(.unstorable) = bad.completion else {
      Issue.record("JSON has no such number")
      return
    }
    expectEqual(good.values.map(\.payload), [1])
    expectEqual(good.values.map(\.id), [OutboxEntryID(1)])
  }

  @Test("eight threads store while it delivers: each entry arrives once, those of a thread in its order")
  func concurrency() throws {
    let delivered = Log<String>()
    let done = DispatchSemaphore(value: 0)
    let outbox = Outbox<String>(
      "test",
      policy: .steady(capacity: 10_000),
      storage: InMemoryOutboxStorage(),
      deliveringWith: { entry in
        if delivered.number(entry.payload) == 800 { done.signal() }
        return Just(.delivered).eraseToAnyPublisher()
      }
    )
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<100 {
        outbox.enqueueing("\(thread) \(number)", key: "\(thread)")
          .subscribe(Recorder<OutboxEntry<String>, OutboxFailure>())
      }
    }
    done.wait()
    expectEqual(Set(delivered.entries).count, 800)
    for thread in 0..<8 {
      let own = delivered.entries.filter { $0.hasPrefix("\(thread) ") }
      expectEqual(own, (0..<100).map { "\(thread) \($0)" })
    }
  }

  @Test("the asynchronous form stores, takes back, retries and discards, and delivers with a function")
  func asynchronousForm() async throws {
    let (arrivals, continuation) = AsyncStream<String>.makeStream()
    let outbox = Outbox<String>("test", policy: .steady(), storage: InMemoryOutboxStorage()) { entry in
      continuation.yield(entry.payload)
      return entry.payload == "bad" && entry.attempts == 1 ? .refused(TestFailure.permanent) : .delivered
    }
    try await outbox.open()
    var iterator = arrivals.makeAsyncIterator()
    try await outbox.enqueue("a", key: "k")
    await expectEqual(iterator.next(), "a")

    let (letters, buried) = AsyncStream<OutboxEntryID>.makeStream()
    outbox.onEvent { if case .buried(let letter) = $0 { buried.yield(letter.id) } }
    try await outbox.enqueue("bad", key: "k")
    await expectEqual(iterator.next(), "bad")
    var graves = letters.makeAsyncIterator()
    let id = try #require(await graves.next())
    try await expectEqual(outbox.cancel(id), .notThere)
    #expect(try await outbox.discard(id))
    try await expectEqual(outbox.retry(id), false)

    outbox.pause()
    let waiting = try await outbox.enqueue("b", key: "k")
    try await expectEqual(outbox.cancel(waiting.id), .cancelled)
    await outbox.close()
    await #expect(throws: OutboxFailure.self) { try await outbox.enqueue("c", key: "k") }
  }
}

/// Counts the calls of a storage in memory, which may refuse to replace its records, and to take any after that.
///
/// Unchecked, because the lock guards the counts.
private final class CountingStorage: OutboxStorage, @unchecked Sendable {
  let kept = InMemoryOutboxStorage()
  private let isReplaceable: Bool
  private let failsHalfway: Bool
  private let lock = Lock()
  private var appendSizes: [Int] = []
  private var replacementCount = 0

  init(isReplaceable: Bool = true, failsHalfway: Bool = false) {
    (self.isReplaceable, self.failsHalfway) = (isReplaceable, failsHalfway)
  }

  var appends: [Int] { lock.withLock { appendSizes } }
  var replacements: Int { lock.withLock { replacementCount } }

  func open() throws -> OutboxContents { try kept.open() }

  func append(_ records: [Data], durably: Bool) throws {
    if failsHalfway, replacements > 0 { throw OutboxStorageFailure.notReady("The storage in memory") }
    lock.withLock { appendSizes.append(records.count) }
    try kept.append(records, durably: durably)
  }

  func replace(with records: [Data]) throws {
    lock.withLock { replacementCount += 1 }
    guard isReplaceable else { throw TestFailure.transient }
    try kept.replace(with: records)
  }

  func close() { kept.close() }
}
