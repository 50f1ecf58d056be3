import Combine
import Expectations
import Foundation
import Rebound
import ReboundOutbox
import ReboundTesting
import Testing

@Suite("Outbox")
struct OutboxTests {
  // MARK: Delivery

  @Test("what is stored while the other side cannot be reached is delivered when it can, also after a restart")
  func outlivesTheProcess() throws {
    let disk = SimulatedDisk(seed: 0)
    let scheduler = TestScheduler()
    let receiver = Receiver(on: scheduler)
    receiver.programAll { _ in .now(.unreachable(TestFailure.transient)) }
    var key = ""
    do {
      let first = OutboxUnderTest(
        storage: FileOutboxStorage(path: "/box", disk: disk),
        scheduler: scheduler,
        receiver: receiver
      )
      key = try #require(try first.enqueue("a")?.get()).idempotencyKey
      expectEqual(first.outbox.state, OutboxState(pending: 1, delivering: 0))
      disk.restart(losingPower: true)
    }
    receiver.programAll { _ in .now(.delivered) }
    let second = OutboxUnderTest(
      storage: FileOutboxStorage(path: "/box", disk: disk),
      scheduler: scheduler,
      receiver: receiver,
      seed: 2
    )
    second.outbox.start()
    scheduler.advance()
    expectEqual(receiver.payloads, ["a", "a"])
    expectEqual(receiver.arrivals.map(\.entry.idempotencyKey), [key, key])
    #expect(second.outbox.state.isEmpty)
  }

  @Test("an entry is in the storage before anybody is asked to deliver it")
  func storesFirst() throws {
    let storage = InMemoryOutboxStorage()
    let scheduler = TestScheduler()
    let receiver = Receiver(on: scheduler)
    let stored = Log<Bool>()
    receiver.programAll { entry in
      stored.write(storage.records.contains { String(decoding: $0, as: UTF8.self).contains(entry.idempotencyKey) })
      return .now(.delivered)
    }
    let test = OutboxUnderTest(storage: storage, scheduler: scheduler, receiver: receiver)
    try expectEqual(test.enqueue("a")?.get().id, OutboxEntryID(1))
    expectEqual(stored.entries, [true])
  }

  @Test("what was under way when the process ended is sent again, and said to be")
  func sendsInterruptedAgain() throws {
    let storage = InMemoryOutboxStorage()
    let scheduler = TestScheduler()
    let receiver = Receiver(on: scheduler)
    receiver.program("a", .never)
    var first: OutboxUnderTest? = OutboxUnderTest(storage: storage, scheduler: scheduler, receiver: receiver)
    first?.enqueue("a")
    first?.enqueue("b")
    expectEqual(receiver.payloads, ["a"])
    first = nil
    #expect(receiver.arrivals[0].isCancelled)

    let second = OutboxUnderTest(storage: storage, scheduler: scheduler, receiver: receiver)
    second.outbox.start()
    scheduler.advance()
    expectEqual(receiver.payloads, ["a", "a", "b"])
    expectEqual(receiver.arrivals[1].entry.attempts, 2)
    expectEqual(second.log.lines.first, "opened with 2 pending, 1 of them to be sent again, 0 dead letters")
  }

  @Test("entries of one key are delivered in order, one at a time; those of other keys at the same time")
  func order() {
    let test = OutboxUnderTest(.steady(maxConcurrent: 2))
    test.receiver.programAll { _ in .after(.seconds(1), .delivered) }
    for (payload, key) in [("a1", "a"), ("a2", "a"), ("b1", "b"), ("c1", "c")] { test.enqueue(payload, key: key) }
    test.scheduler.advance(by: .seconds(10))
    expectEqual(test.receiver.timed, ["a1 at 0.0", "b1 at 0.0", "a2 at 1.0", "c1 at 1.0"])
  }

  @Test("a failure for the moment keeps its entry in front, and holds up its key alone")
  func holdsUpItsKey() {
    let test = OutboxUnderTest()
    test.receiver.program("a1", .now(.tryLater(TestFailure.transient)), .now(.unreachable(TestFailure.transient)))
    for (payload, key) in [("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b")] { test.enqueue(payload, key: key) }
    test.scheduler.advance(by: .seconds(30))
    expectEqual(test.receiver.timed, ["a1 at 0.0", "b1 at 0.0", "b2 at 0.0", "a1 at 10.0", "a1 at 20.0", "a2 at 20.0"])
    // Only the attempt that may have arrived counts.
    expectEqual(test.receiver.arrivals.filter { $0.entry.payload == "a1" }.map(\.entry.attempts), [1, 2, 2])
    expectEqual(test.scheduler.pendingCount, 0)
  }

  @Test("the pause that the other side asks for is a floor, and has a limit")
  func hint() throws {
    let policy = try OutboxPolicy(backoff: .constant(.seconds(10)), maxHint: .seconds(60))
    let test = OutboxUnderTest(policy)
    test.receiver.program(
      "a",
      .now(.tryLater(TestFailure.transient, after: .seconds(1))),
      .now(.tryLater(TestFailure.transient, after: .seconds(30))),
      .now(.tryLater(TestFailure.transient, after: .seconds(600)))
    )
    test.enqueue("a")
    test.scheduler.advance(by: .seconds(1_000))
    expectEqual(test.receiver.timed, ["a at 0.0", "a at 10.0", "a at 40.0", "a at 100.0"])
  }

  @Test("pauses grow from one failure in a row to the next, and begin anew after a delivery")
  func backoff() throws {
    let test = OutboxUnderTest(try OutboxPolicy(backoff: .linear(.seconds(10))))
    let fail = Receiver.Answer.now(.tryLater(TestFailure.transient))
    test.receiver.program("a", fail, fail)
    test.receiver.program("b", fail)
    test.enqueue("a")
    test.enqueue("b")
    test.scheduler.advance(by: .seconds(100))
    expectEqual(test.receiver.timed, ["a at 0.0", "a at 10.0", "a at 30.0", "b at 30.0", "b at 40.0"])
  }

  @Test("a delivery without a verdict is tried again")
  func withoutVerdict() {
    let scheduler = TestScheduler()
    let count = Log<Void>()
    let outbox = Outbox<String>(
      "test",
      policy: .steady(),
      storage: InMemoryOutboxStorage(),
      scheduler: scheduler,
      deliveringWith: { _ in
        count.number(()) == 1 ? Empty().eraseToAnyPublisher() : Just(.delivered).eraseToAnyPublisher()
      }
    )
    let recorder = Recorder<OutboxEntry<String>, OutboxFailure>(on: scheduler)
    outbox.enqueueing("a", key: "k").subscribe(recorder)
    scheduler.advance(by: .seconds(9))
    expectEqual(outbox.entries.first?.lastSetback?.text, "\(OutboxWithoutVerdict())")
    scheduler.advance(by: .seconds(1))
    expectEqual(count.count, 2)
    #expect(outbox.state.isEmpty)
  }

  @Test("without any pause in the policy, time still goes on between two attempts")
  func noBusyLoop() throws {
    let test = OutboxUnderTest(try OutboxPolicy(backoff: .immediate))
    test.receiver.programAll { _ in .now(.unreachable(TestFailure.transient)) }
    test.enqueue("a")
    test.scheduler.advance(by: .milliseconds(10))
    expectEqual(test.receiver.payloads.count, 11)
  }

  // MARK: Connectivity

  @Test("without a network nothing is sent, not even once, and when it is back all goes out at once")
  func connectivity() {
    let online = CurrentValueSubject<Bool, Never>(false)
    let test = OutboxUnderTest(online: online.eraseToAnyPublisher())
    test.enqueue("a")
    test.scheduler.advance(by: .seconds(100))
    #expect(test.receiver.payloads.isEmpty)
    #expect(!test.outbox.state.isOnline)
    online.send(true)
    test.scheduler.advance()
    expectEqual(test.receiver.timed, ["a at 100.0"])
  }

  @Test("the return of the network ends pauses, but not those that the other side has asked for")
  func networkEndsPauses() {
    let online = CurrentValueSubject<Bool, Never>(true)
    let test = OutboxUnderTest(online: online.eraseToAnyPublisher())
    test.receiver.program("a", .now(.unreachable(TestFailure.transient)))
    test.receiver.program("b", .now(.tryLater(TestFailure.transient)))
    test.receiver.program("c", .now(.tryLater(TestFailure.transient, after: .seconds(20))))
    for payload in ["a", "b", "c"] { test.enqueue(payload, key: payload) }
    test.scheduler.advance(by: .seconds(2))
    online.send(false)
    test.scheduler.advance(by: .seconds(2))
    online.send(true)
    test.scheduler.advance(by: .seconds(100))
    expectEqual(test.receiver.timed, ["a at 0.0", "b at 0.0", "c at 0.0", "a at 4.0", "b at 4.0", "c at 20.0"])
  }

  @Test(
    "the return of the network ends a pause if no notice is taken of what the other side asks for, or it asks for nothing",
    arguments: [(Duration.zero, Duration.seconds(20)), (.seconds(60), .zero), (.seconds(60), .seconds(-1))]
  )
  func networkEndsPausesNobodyAskedFor(maxHint: Duration, hint: Duration) throws {
    let online = CurrentValueSubject<Bool, Never>(true)
    let policy = try OutboxPolicy(backoff: .constant(.seconds(10)), maxHint: maxHint)
    let test = OutboxUnderTest(policy, online: online.eraseToAnyPublisher())
    test.receiver.program("a", .now(.unreachable(TestFailure.transient, after: hint)))
    test.enqueue("a")
    test.scheduler.advance(by: .seconds(2))
    online.send(false)
    test.scheduler.advance(by: .seconds(2))
    online.send(true)
    test.scheduler.advance(by: .seconds(100))
    expectEqual(test.receiver.timed, ["a at 0.0", "a at 4.0"])
  }

  @Test("a person who does not want to wait ends all pauses")
  func deliverNow() {
    let test = OutboxUnderTest()
    test.receiver.program("a", .now(.tryLater(TestFailure.transient, after: .seconds(60))))
    test.enqueue("a")
    test.scheduler.advance(by: .seconds(1))
    test.outbox.deliverNow()
    test.scheduler.advance()
    expectEqual(test.receiver.timed, ["a at 0.0", "a at 1.0"])
  }

  @Test("a paused outbox stores and sends nothing; what is under way goes on")
  func pause() {
    let test = OutboxUnderTest()
    test.receiver.program("a", .after(.seconds(5), .delivered))
    test.enqueue("a", key: "a")
    test.outbox.pause()
    test.enqueue("b", key: "b")
    test.scheduler.advance(by: .seconds(60))
    expectEqual(test.receiver.payloads, ["a"])
    expectEqual(test.outbox.state, OutboxState(pending: 1, isPaused: true))
    test.outbox.resume()
    test.scheduler.advance()
    expectEqual(test.receiver.timed, ["a at 0.0", "b at 60.0"])
  }

  @Test("goes by the clock of its scheduler, unless it is given another")
  func wallClock() throws {
    let scheduler = TestScheduler()
    func outbox(_ wallClock: (@Sendable () -> Date)? = nil) throws -> Outbox<String> {
      let policy = OutboxPolicy.steady(timeToLive: .seconds(60))
      let outbox = Outbox<String>(
        "test",
        policy: policy,
        storage: InMemoryOutboxStorage(),
        scheduler: scheduler,
        wallClock: wallClock,
        deliveringWith: { _ in Just(OutboxVerdict.tryLater(TestFailure.transient)).eraseToAnyPublisher() }
      )
      outbox.enqueueing("a", key: "k").subscribe(Recorder<OutboxEntry<String>, OutboxFailure>(on: scheduler))
      return outbox
    }
    let (virtual, still) = (try outbox(), try outbox { Date(timeIntervalSince1970: 1_800_000_000) })
    scheduler.advance(by: .seconds(30))
    expectEqual(virtual.entries.map(\.enqueuedAt), [Date(timeIntervalSince1970: 0)])
    expectEqual(still.entries.map(\.enqueuedAt), [Date(timeIntervalSince1970: 1_800_000_000)])
    scheduler.advance(by: .seconds(60))
    expectEqual(virtual.deadLetters.map(\.reason), [.expired])
    #expect(still.deadLetters.isEmpty)
    expectEqual(still.entries.count, 1)
  }

  @Test("policies inside of a delivery go by the time of the outbox's scheduler without being told")
  func timeOfDeliveries() {
    let scheduler = TestScheduler()
    let tries = Log<Duration>()
    let outbox = Outbox<String>(
      "test",
      policy: .steady(),
      storage: InMemoryOutboxStorage(),
      scheduler: scheduler,
      deliveringWith: { _ in
        Deferred { () -> AnyPublisher<OutboxVerdict, TestFailure> in
          tries.number(scheduler.elapsed) == 1
            ? Fail(error: .transient).eraseToAnyPublisher()
            : Just(.delivered).setFailureType(to: TestFailure.self).eraseToAnyPublisher()
        }
        .retry(RetryPolicy(clamping: 1, backoff: .constant(.seconds(5))))
        .catch { Just(.tryLater($0)) }
        .eraseToAnyPublisher()
      }
    )
    outbox.enqueueing("a", key: "k").subscribe(Recorder<OutboxEntry<String>, OutboxFailure>(on: scheduler))
    scheduler.advance(by: .seconds(5))
    expectEqual(tries.entries, [.zero, .seconds(5)])
    #expect(outbox.state.isEmpty)
  }

  // MARK: Dead letters

  @Test("what the other side refuses is a dead letter with the reason, and the next of its key goes on at once")
  func refused() {
    let test = OutboxUnderTest()
    test.receiver.program("a", .after(.seconds(3), .refused(TestFailure.permanent)))
    test.enqueue("a")
    test.enqueue("b")
    test.scheduler.advance(by: .seconds(3))
    expectEqual(test.receiver.timed, ["a at 0.0", "b at 3.0"])
    let letter = test.outbox.deadLetters.first
    expectEqual(letter?.entry.payload, "a")
    expectEqual(letter?.reason, .refused)
    expectEqual(letter?.text, "\(TestFailure.permanent)")
    expectEqual(letter?.date, OutboxUnderTest.start + 3)
    expectEqual(test.outbox.state, OutboxState(deadLetters: 1))
  }

  @Test("an entry that has waited too long is a dead letter at that moment, with the last failure in its text")
  func expires() {
    let test = OutboxUnderTest(.steady(timeToLive: .seconds(25)))
    test.receiver.programAll { _ in .now(.unreachable(TestFailure.transient)) }
    test.enqueue("a")
    test.scheduler.advance(by: .milliseconds(24_999))
    expectEqual(test.outbox.state.pending, 1)
    test.scheduler.advance(by: .milliseconds(1))
    expectEqual(test.outbox.deadLetters.map(\.reason), [.expired])
    expectEqual(test.outbox.deadLetters.first?.text, "\(TestFailure.transient)")
    expectEqual(test.receiver.payloads.count, 3)
    expectEqual(test.scheduler.pendingCount, 0)
  }

  @Test(
    "an entry may live for any length of time: beyond all numbers it is as long as can be, and below zero over at once"
  )
  func anyTimeToLive() {
    let test = OutboxUnderTest()
    test.receiver.programAll { _ in .never }
    test.enqueue("long", key: "a", OutboxOptions(timeToLive: Duration.seconds(Int64.max) * 2))
    test.enqueue("over", key: "b", OutboxOptions(timeToLive: Duration.seconds(Int64.max) * -2))
    expectEqual(test.outbox.entries.map(\.payload), ["long"])
    expectEqual(test.outbox.deadLetters.map(\.entry.payload), ["over"])
    expectEqual(test.outbox.deadLetters.map(\.reason), [.expired])
  }

  @Test("time goes on while no program runs: what has expired meanwhile is not sent")
  func expiresMeanwhile() {
    let storage = InMemoryOutboxStorage()
    let scheduler = TestScheduler()
    let receiver = Receiver(on: scheduler)
    receiver.program("a", .now(.unreachable(TestFailure.transient)))
    do {
      let first = OutboxUnderTest(storage: storage, scheduler: scheduler, receiver: receiver)
      first.enqueue("a", OutboxOptions(timeToLive: .seconds(60)))
    }
    scheduler.advance(by: .seconds(60))
    let second = OutboxUnderTest(storage: storage, scheduler: scheduler, receiver: receiver)
    second.outbox.start()
    scheduler.advance()
    expectEqual(receiver.payloads, ["a"])
    expectEqual(second.outbox.deadLetters.map(\.reason), [.expired])
  }

  @Test("an entry under way is not given up before its verdict")
  func underWayDoesNotExpire() {
    let test = OutboxUnderTest(.steady(timeToLive: .seconds(5)))
    test.receiver.program("a", .after(.seconds(8), .delivered))
    test.receiver.program("b", .after(.seconds(8), .tryLater(TestFailure.transient)))
    test.enqueue("a", key: "a")
    test.enqueue("b", key: "b")
    test.scheduler.advance(by: .seconds(7))
    expectEqual(test.outbox.state.delivering, 2)
    test.scheduler.advance(by: .seconds(1))
    expectEqual(test.outbox.deadLetters.map(\.entry.payload), ["b"])
    expectEqual(test.outbox.deadLetters.map(\.reason), [.expired])
  }

  @Test("an entry is sent as often as the policy allows; attempts that cannot have arrived do not count")
  func attempts() {
    let test = OutboxUnderTest(.steady(maxAttempts: 2))
    test.receiver.program(
      "a",
      .now(.unreachable(TestFailure.transient)),
      .now(.tryLater(TestFailure.transient)),
      .now(.tryLater(TestFailure.transient))
    )
    test.enqueue("a")
    test.enqueue("b")
    test.scheduler.advance(by: .seconds(100))
    // The other side is in trouble, so the next one waits as well.
    expectEqual(test.receiver.timed, ["a at 0.0", "a at 10.0", "a at 20.0", "b at 30.0"])
    expectEqual(
      test.outbox.deadLetters.map(\.description),
      ["entry 1 of 'k': attempts used up after 2 attempts (transient)"]
    )
  }

  @Test("an entry that ends the process each time it is sent is given up after as many attempts")
  func poison() {
    let storage = InMemoryOutboxStorage()
    let scheduler = TestScheduler()
    let receiver = Receiver(on: scheduler)
    receiver.program("a", .never, .never, .never)
    for _ in 0..<3 {
      let test = OutboxUnderTest(.steady(maxAttempts: 2), storage: storage, scheduler: scheduler, receiver: receiver)
      if receiver.payloads.isEmpty { test.enqueue("a") } else { test.outbox.start() }
      scheduler.advance()
      test.enqueue("b")
    }
    expectEqual(receiver.payloads, ["a", "a", "b", "b", "b"])
    expectEqual(receiver.arrivals.map(\.entry.id.number), [1, 1, 2, 3, 4])
  }

  @Test("a dead letter is tried again in its old place, with all its attempts and time before it")
  func revive() throws {
    let test = OutboxUnderTest(.steady(maxAttempts: 1, timeToLive: .seconds(100)))
    test.receiver.program("a", .now(.tryLater(TestFailure.transient)))
    let id = try #require(try test.enqueue("a")?.get()).id
    test.enqueue("b")
    test.scheduler.advance(by: .seconds(5))
    expectEqual(test.outbox.deadLetters.map(\.id), [id])
    try expectEqual(test.ask(test.outbox.retrying(id))?.get(), true)
    expectEqual(test.outbox.entries.map(\.payload), ["a", "b"])
    test.scheduler.advance(by: .seconds(5))
    expectEqual(test.receiver.timed, ["a at 0.0", "a at 10.0", "b at 10.0"])
    expectEqual(test.receiver.arrivals[1].entry.expiresAt, OutboxUnderTest.start + 105)
    try expectEqual(test.ask(test.outbox.retrying(id))?.get(), false)
  }

  @Test(
    "a dead letter that was given a time of its own has that before it again, each time, also after restarts",
    arguments: [Duration.seconds(30), .seconds(1_000)]
  )
  func reviveWithItsOwnTime(timeToLive: Duration) throws {
    let storage = InMemoryOutboxStorage()
    let scheduler = TestScheduler()
    let receiver = Receiver(on: scheduler)
    receiver.programAll { _ in .now(.unreachable(TestFailure.transient)) }
    for turn in 0..<3 {
      let test = OutboxUnderTest(
        .steady(timeToLive: .seconds(100)),
        storage: storage,
        scheduler: scheduler,
        receiver: receiver
      )
      if turn == 0 { test.enqueue("a", OutboxOptions(timeToLive: timeToLive)) }
      let id = OutboxEntryID(1)
      if turn > 0 { try expectEqual(test.ask(test.outbox.retrying(id))?.get(), true) }
      let end = OutboxUnderTest.start + (timeToLive * (turn + 1)).inSeconds
      expectEqual(test.outbox.entries.map(\.expiresAt), [end])
      scheduler.advance(by: .init(timeToLive))
      expectEqual(test.outbox.deadLetters.map(\.reason), [.expired])
      expectEqual(test.outbox.deadLetters.map(\.date), [end])
    }
  }

  @Test(
    "a dead letter is tried again in its old place, before a later one that was under way and failed, also after a restart",
    arguments: [true, false]
  )
  func reviveWhileALaterOneIsUnderWay(restarts: Bool) throws {
    let storage = InMemoryOutboxStorage()
    let scheduler = TestScheduler()
    let receiver = Receiver(on: scheduler)
    receiver.program("a", .now(.refused(TestFailure.permanent)))
    receiver.program("b", .after(.seconds(5), .tryLater(TestFailure.transient)))
    var first: OutboxUnderTest? = OutboxUnderTest(storage: storage, scheduler: scheduler, receiver: receiver)
    let id = try #require(try first?.enqueue("a")?.get()).id
    first?.enqueue("b")
    let isRevived = first.flatMap { $0.ask($0.outbox.retrying(id)) }
    try expectEqual(isRevived?.get(), true)
    scheduler.advance(by: .seconds(5))
    expectEqual(first?.outbox.entries.map(\.payload), ["a", "b"])
    if restarts { first = nil }
    let second = restarts ? OutboxUnderTest(storage: storage, scheduler: scheduler, receiver: receiver) : nil
    second?.outbox.start()
    scheduler.advance(by: .seconds(10))
    expectEqual(receiver.payloads, ["a", "b", "a", "b"])
  }

  @Test("a dead letter outlives a restart until it is discarded")
  func discard() throws {
    let storage = InMemoryOutboxStorage()
    let scheduler = TestScheduler()
    var first: OutboxUnderTest? = OutboxUnderTest(storage: storage, scheduler: scheduler)
    first?.receiver.program("a", .now(.refused(TestFailure.permanent)))
    let id = try #require(try first?.enqueue("a")?.get()).id
    let before = first?.outbox.deadLetters
    first = nil
    let second = OutboxUnderTest(storage: storage, scheduler: scheduler)
    second.outbox.start()
    scheduler.advance()
    expectEqual(second.outbox.deadLetters, before)
    try expectEqual(second.ask(second.outbox.discarding(id))?.get(), true)
    try expectEqual(second.ask(second.outbox.discarding(id))?.get(), false)
    #expect(second.outbox.state.isEmpty)
    #expect(second.receiver.payloads.isEmpty)
  }

  @Test(
    "a dead letter is the same after a restart, with all that is known of its attempts",
    arguments: [true, false]
  )
  func deadLetterAfterRestart(isReached: Bool) throws {
    let storage = InMemoryOutboxStorage()
    let scheduler = TestScheduler()
    let policy = OutboxPolicy.steady(maxAttempts: isReached ? 1 : nil, timeToLive: .seconds(5))
    var first: OutboxUnderTest? = OutboxUnderTest(policy, storage: storage, scheduler: scheduler)
    let verdict: OutboxVerdict = isReached ? .tryLater(TestFailure.transient) : .unreachable(TestFailure.transient)
    first?.receiver.program("a", .after(.seconds(isReached ? 1 : 6), verdict))
    first?.enqueue("a")
    scheduler.advance(by: .seconds(6))
    let before = try #require(first?.outbox.deadLetters)
    expectEqual(before.map(\.reason), [isReached ? .attemptsUsedUp : .expired])
    expectEqual(before.map(\.entry.attempts), [isReached ? 1 : 0])
    expectEqual(before.map(\.entry.lastSetback?.text), ["\(TestFailure.transient)"])
    first = nil
    let second = OutboxUnderTest(policy, storage: storage, scheduler: scheduler)
    second.outbox.start()
    scheduler.advance()
    expectEqual(second.outbox.deadLetters, before)
  }

  // MARK: Room

  @Test("what does not fit is refused with how much there is, and nothing of it is stored")
  func full() throws {
    let test = OutboxUnderTest(.steady(capacity: 2))
    test.receiver.program("a", .now(.refused(TestFailure.permanent)))
    test.receiver.program("b", .never)
    test.enqueue("a")
    test.enqueue("b")
    guard case .failure(.full(let full)) = test.enqueue("c") else {
      Issue.record("three fit into two")
      return
    }
    #expect((full.pending, full.deadLetters, full.capacity) == (1, 1, 2))
    expectEqual(test.outbox.entries.map(\.payload), ["b"])
    // Dead letters take room until somebody decides about them.
    _ = test.ask(test.outbox.discarding(OutboxEntryID(1)))
    #expect(try test.enqueue("c")?.get() != nil)
  }

  @Test("room is measured in bytes, too, and given back")
  func bytes() throws {
    let test = OutboxUnderTest(.steady(maxBytes: 1_000))
    let large = String(repeating: "x", count: 600)
    test.receiver.program(large, .after(.seconds(1), .delivered))
    #expect(try test.enqueue(large)?.get() != nil)
    guard case .failure(.full) = test.enqueue(large) else {
      Issue.record("1,200 bytes fit into 1,000")
      return
    }
    test.scheduler.advance(by: .seconds(1))
    #expect(try test.enqueue(large)?.get() != nil)
  }

  @Test("many that come at the same time are counted one by one")
  func fullInOneBatch() {
    let test = OutboxUnderTest(.steady(capacity: 3))
    let recorders = (0..<5).map { number in
      let recorder = Recorder<OutboxEntry<String>, OutboxFailure>(on: test.scheduler)
      test.outbox.enqueueing("\(number)", key: "k").subscribe(recorder)
      return recorder
    }
    test.receiver.programAll { _ in .never }
    test.scheduler.advance()
    expectEqual(recorders.map(\.values.count), [1, 1, 1, 0, 0])
  }

  // MARK: Replacing and taking back

  @Test("the last write takes the place of those of its key that wait, not of one under way")
  func replaces() throws {
    let test = OutboxUnderTest()
    test.receiver.program("a1", .after(.seconds(1), .delivered))
    test.enqueue("a1", key: "a")
    test.enqueue("a2", key: "a")
    test.enqueue("b", key: "b")
    test.enqueue("a3", key: "a", .latest)
    test.enqueue("a4", key: "a", .latest)
    test.scheduler.advance(by: .seconds(10))
    expectEqual(test.receiver.payloads, ["a1", "b", "a4"])
    expectEqual(
      test.log.lines.filter { $0.contains("replaced") },
      ["entry 2 of 'a': replaced by entry 4", "entry 4 of 'a': replaced by entry 5"]
    )
  }

  @Test("a full outbox takes an entry that replaces another")
  func replacesWhenFull() throws {
    let test = OutboxUnderTest(.steady(capacity: 1))
    test.outbox.pause()
    test.enqueue("a")
    #expect(try test.enqueue("b", .latest)?.get() != nil)
    expectEqual(test.outbox.entries.map(\.payload), ["b"])
  }

  @Test("an outbox without room for one more takes an entry that replaces another of its size")
  func replacesWhenHeavy() throws {
    let test = OutboxUnderTest(.steady(maxBytes: 1_000))
    test.outbox.pause()
    let (first, second) = (String(repeating: "a", count: 600), String(repeating: "b", count: 600))
    test.enqueue(first)
    #expect(test.enqueue(second)?.failureText != nil)
    #expect(try test.enqueue(second, .latest)?.get() != nil)
    expectEqual(test.outbox.entries.map(\.payload), [second])
  }

  @Test("an entry that was tried before and waits for its next try may have arrived, too")
  func cancelsBetweenTries() throws {
    let test = OutboxUnderTest()
    test.receiver.program("a", .now(.tryLater(TestFailure.transient)))
    let id = try #require(try test.enqueue("a")?.get()).id
    try expectEqual(test.ask(test.outbox.cancelling(id))?.get(), .cancelledTooLate)
    test.scheduler.advance(by: .seconds(10))
    expectEqual(test.receiver.payloads, ["a"])
  }

  @Test("an entry that waits can be taken back; one under way is stopped, and may have arrived")
  func cancels() throws {
    let test = OutboxUnderTest()
    test.receiver.program("a", .never)
    let ids = try ["a", "b", "c"].map { try #require(try test.enqueue($0)?.get()).id }
    try expectEqual(test.ask(test.outbox.cancelling(ids[1]))?.get(), .cancelled)
    try expectEqual(test.ask(test.outbox.cancelling(ids[0]))?.get(), .cancelledTooLate)
    #expect(test.receiver.arrivals[0].isCancelled)
    try expectEqual(test.ask(test.outbox.cancelling(ids[0]))?.get(), .notThere)
    expectEqual(test.receiver.payloads, ["a", "c"])
    #expect(test.outbox.state.isEmpty)
  }

  // MARK: Around it

  @Test("each decision is told in order, in one line without the payload")
  func events() {
    let test = OutboxUnderTest()
    test.receiver.program("secret", .now(.tryLater(TestFailure.transient)), .now(.refused(TestFailure.permanent)))
    test.enqueue("secret", key: "cart")
    test.scheduler.advance(by: .seconds(10))
    expectEqual(
      test.log.lines,
      [
        "opened with 0 pending, 0 dead letters",
        "entry 1 of 'cart': stored",
        "entry 1 of 'cart': attempt 1 begins",
        "entry 1 of 'cart': failed (transient); trying again in 10.0 seconds",
        "entry 1 of 'cart': attempt 2 begins",
        "entry 1 of 'cart': refused after 2 attempts (permanent)",
      ]
    )
    expectEqual(test.log.events.map(\.severity), [.info, .info, .info, .warning, .info, .error])
  }

  @Test("its numbers are published, each change once")
  func states() {
    let test = OutboxUnderTest()
    let recorder = Recorder<OutboxState, Never>(on: test.scheduler)
    test.outbox.states.subscribe(recorder)
    test.receiver.program("a", .after(.seconds(1), .delivered))
    test.enqueue("a")
    test.enqueue("b")
    test.scheduler.advance(by: .seconds(1))
    expectEqual(recorder.values.map { [$0.pending, $0.delivering] }, [[0, 0], [1, 1], [2, 1], [1, 1], [0, 0]])
  }

  @Test("a closed outbox leaves its storage to the next one, and answers what comes after")
  func close() async throws {
    let storage = InMemoryOutboxStorage()
    let test = OutboxUnderTest(storage: storage)
    test.receiver.program("a", .never)
    test.enqueue("a")
    async let closing: Void = test.outbox.close()
    while test.outbox.state.delivering > 0 {
      test.scheduler.advance()
      await Task.yield()
    }
    test.scheduler.advance()
    await closing
    #expect(test.receiver.arrivals[0].isCancelled)
    expectEqual(test.enqueue("b")?.failureText, "\(OutboxFailure.closed)")
    let next = OutboxUnderTest(storage: storage, scheduler: test.scheduler)
    next.outbox.start()
    next.scheduler.advance()
    expectEqual(next.receiver.payloads, ["a"])
  }

  @Test("an outbox that is released lets go of everything: deliveries, timer, network, storage, payloads")
  func release() {
    let scheduler = TestScheduler()
    let storage = InMemoryOutboxStorage()
    let probe = PublisherProbe()
    let online = CurrentValueSubject<Bool, Never>(true)
    weak var released: Outbox<String>?
    let receiver = Receiver(on: scheduler)
    receiver.program("a", .never)
    receiver.program("b", .now(.tryLater(TestFailure.transient)))
    do {
      let test = OutboxUnderTest(
        storage: storage,
        online: online.probed(by: probe).eraseToAnyPublisher(),
        scheduler: scheduler,
        receiver: receiver
      )
      test.enqueue("a", key: "a")
      test.enqueue("b", key: "b")
      released = test.outbox
      expectEqual(scheduler.pendingCount, 1)
    }
    #expect(released == nil)
    expectEqual(probe.counts.open, 0)
    expectEqual(scheduler.pendingCount, 0)
    #expect(receiver.arrivals[0].isCancelled)
    expectEqual((try? storage.open())?.records.isEmpty, false)
  }

  @Test("nothing is stored before it is requested, and a cancel right after takes nothing back")
  func demand() {
    let test = OutboxUnderTest()
    let recorder = Recorder<OutboxEntry<String>, OutboxFailure>(requesting: .none, on: test.scheduler)
    test.outbox.enqueueing("a", key: "k").subscribe(recorder)
    test.scheduler.advance()
    #expect(test.receiver.payloads.isEmpty)
    recorder.request(.max(1))
    recorder.cancel()
    test.scheduler.advance()
    #expect(recorder.values.isEmpty && recorder.completions.isEmpty)
    expectEqual(test.receiver.payloads, ["a"])
  }

  @Test("an observer may use the outbox that tells it")
  func reentrancy() {
    let test = OutboxUnderTest()
    var subscriptions: Set<AnyCancellable> = []
    let outbox = test.outbox
    outbox.states.sink { [weak outbox] state in
      if state.pending == 1 { outbox?.pause() }
    }
    .store(in: &subscriptions)
    test.receiver.program("a", .after(.seconds(1), .delivered))
    test.enqueue("a")
    test.enqueue("b")
    test.scheduler.advance(by: .seconds(5))
    expectEqual(test.receiver.payloads, ["a"])
    #expect(test.outbox.state.isPaused)
  }
}
