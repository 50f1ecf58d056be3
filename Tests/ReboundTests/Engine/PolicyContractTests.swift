import Combine
import Expectations
import Foundation
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@Suite("Policies keep the contract of the drivers")
struct PolicyContractTests {
  private typealias Connection = TestPublisher<Int, any Error>.Connection

  private let scheduler = TestScheduler()
  private let upstream = TestPublisher<Int, any Error>()

  private func subscribe(
    _ subject: PolicySubject,
    to upstream: TestPublisher<Int, any Error>? = nil,
    requesting demand: Subscribers.Demand = .unlimited,
    answering answer: @escaping (Int, Recorder<Int, any Error>) -> Subscribers.Demand = { _, _ in .none }
  ) -> Recorder<Int, any Error> {
    let recorder = Recorder<Int, any Error>(requesting: demand, answering: answer)
    subject.protect((upstream ?? self.upstream).eraseToAnyPublisher(), scheduler.time).subscribe(recorder)
    return recorder
  }

  private func requested(_ connection: Connection?) -> Subscribers.Demand {
    connection?.requests.reduce(.none, +) ?? .none
  }

  /// What holds after each cancel.
  private func expectNothingIsLeft(
    of subject: PolicySubject,
    _ row: PolicyUnderTest,
    _ recorder: Recorder<Int, any Error>,
    cancels: Int = 1
  ) {
    let (events, attempts) = (recorder.events.count, upstream.subscriptionCount)
    expectEqual(subject.log.counts, .init(begun: 1, ended: 1, cancelled: cancels))
    expectEqual(scheduler.pendingCount, 0)
    for connection in upstream.connections {
      connection.send(7)
      connection.send(completion: row.passing)
    }
    subject.release()
    scheduler.advance(by: .seconds(100))
    expectEqual(recorder.events.count, events)
    expectEqual(upstream.subscriptionCount, attempts)
    #expect(subject.isIdle())
    expectEqual(subject.log.counts, .init(begun: 1, ended: 1, cancelled: cancels))
    expectEqual(scheduler.pendingCount, 0)
  }

  // MARK: (a) State

  @Test("two executions do not share what they have used up", arguments: PolicyUnderTest.all)
  func ownState(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    let other = TestPublisher<Int, any Error>()
    let (one, two) = (subscribe(subject), subscribe(subject, to: other))
    for _ in 0..<4 {
      for source in [upstream, other] {
        subject.release()
        source.connections.last?.send(completion: row.triesAgain ? row.again : row.passing)
      }
    }
    subject.release()
    subject.release()
    expectEqual(upstream.subscriptionCount, other.subscriptionCount)
    expectEqual(upstream.subscriptionCount, min(row.attempts, 5))
    expectEqual(one.completions.count, two.completions.count)
    one.cancel()
    two.cancel()
    expectEqual(subject.log.counts.ended, 2)
    expectEqual(subject.log.counts.overlaps, 0)
  }

  @Test("a cancel of one execution leaves the other alone", arguments: PolicyUnderTest.all)
  func cancelOfTheOther(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    let other = TestPublisher<Int, any Error>()
    let (one, two) = (subscribe(subject), subscribe(subject, to: other))
    subject.release()
    one.cancel()
    subject.release()
    other.send(1)
    other.send(completion: row.passing)
    #expect(one.values.isEmpty && one.completions.isEmpty)
    expectEqual(two.values, [1])
    expectEqual(two.completions.count, 1)
    expectEqual(subject.log.counts, .init(begun: 2, ended: 2, cancelled: 1))
    #expect(subject.isIdle())
    expectEqual(scheduler.pendingCount, 0)
  }

  // MARK: (b) Cancel

  @Test("a cancel before it begins: nothing begins", arguments: PolicyUnderTest.all)
  func cancelBefore(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    let events = EventLog<String>()
    subject.protect(upstream.eraseToAnyPublisher(), scheduler.time).subscribe(
      AnySubscriber(
        receiveSubscription: { $0.cancel() },
        receiveValue: { _ in
          events.write("value")
          return .none
        },
        receiveCompletion: { _ in events.write("completion") }
      )
    )
    subject.release()
    #expect(events.events.isEmpty)
    expectEqual(upstream.subscriptionCount, 0)
    expectEqual(subject.log.counts, .init())
    expectEqual(scheduler.pendingCount, 0)
    #expect(subject.isIdle())
  }

  @Test("a cancel while it waits", arguments: PolicyUnderTest.all.filter { $0.wait != .never })
  func cancelInWait(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    if row.wait == .beforeTheFirst { try subject.block() }
    let recorder = subscribe(subject)
    if row.wait == .afterAnEnd { upstream.send(completion: row.again) }
    #expect(subject.isWaiting())
    expectEqual(upstream.subscriptionCount, row.wait == .afterAnEnd ? 1 : 0)
    recorder.cancel()
    recorder.cancel()
    expectNothingIsLeft(of: subject, row, recorder)
  }

  @Test("a cancel while an attempt runs", arguments: PolicyUnderTest.all, [false, true])
  func cancelInAttempt(row: PolicyUnderTest, isFirst: Bool) throws {
    let subject = try row.make(scheduler)
    try subject.block()
    let recorder = subscribe(subject)
    subject.release()
    if !isFirst, row.triesAgain {
      upstream.send(completion: row.again)
      subject.release()
      expectEqual(upstream.subscriptionCount, 2)
    }
    let connection = try #require(upstream.connections.last)
    recorder.cancel()
    expectEqual(connection.cancelCount, 1)
    expectNothingIsLeft(of: subject, row, recorder)
  }

  @Test("a cancel from inside a value", arguments: PolicyUnderTest.all)
  func cancelInValue(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    try subject.block()
    let recorder = subscribe(subject) { _, recorder in
      recorder.cancel()
      return .max(1)
    }
    subject.release()
    let connection = try #require(upstream.connections.last)
    expectEqual(connection.send(1), .none)
    expectEqual(connection.cancelCount, 1)
    expectEqual(recorder.values, [1])
    expectNothingIsLeft(of: subject, row, recorder)
  }

  @Test("a cancel from inside the completion: it is over already", arguments: PolicyUnderTest.all)
  func cancelInCompletion(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    let recorder = Recorder<Int, any Error>()
    subject.protect(upstream.eraseToAnyPublisher(), scheduler.time).subscribe(recorder.cancellingAtItsEnd)
    subject.release()
    upstream.send(completion: row.passing)
    expectEqual(recorder.completions.count, 1)
    expectNothingIsLeft(of: subject, row, recorder, cancels: 0)
  }

  @Test(
    "a cancel inside of an attempt is heard as a cancel: it passes, and nothing follows",
    arguments: PolicyUnderTest.all
  )
  func cancelOfAttempt(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    let recorder = subscribe(subject)
    subject.release()
    upstream.send(1)
    upstream.send(completion: .failure(CancellationError()))
    expectEqual(recorder.values, [1])
    #expect(recorder.failure is CancellationError)
    expectEqual(upstream.subscriptionCount, 1)
    expectNothingIsLeft(of: subject, row, recorder)
  }

  // MARK: (c) Demand

  @Test("no more comes than was requested", arguments: PolicyUnderTest.all)
  func demand(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    let recorder = subscribe(subject, requesting: .max(2))
    subject.release()
    expectEqual(requested(upstream.connections.last), .max(2))
    for value in 1...5 { upstream.send(value) }
    expectEqual(recorder.values, [1, 2])
    recorder.request(.max(1))
    expectEqual(requested(upstream.connections.last), .max(3))
    for value in 6...9 { upstream.send(value) }
    expectEqual(recorder.values, [1, 2, 6])
    recorder.cancel()
  }

  @Test(
    "what is requested in a wait comes up after it",
    arguments: PolicyUnderTest.all.filter { $0.wait == .beforeTheFirst }
  )
  func demandInWait(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    try subject.block()
    let recorder = subscribe(subject, requesting: .max(1))
    recorder.request(.max(1))
    expectEqual(upstream.subscriptionCount, 0)
    subject.release()
    expectEqual(requested(upstream.connections.last), .max(2))
    recorder.cancel()
  }

  @Test("what is left is requested of the next attempt", arguments: PolicyUnderTest.all.filter(\.triesAgain))
  func demandCarriedOver(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    let recorder = subscribe(subject, requesting: .max(3))
    upstream.send(1)
    upstream.send(completion: row.again)
    recorder.request(.max(1))
    subject.release()
    expectEqual(upstream.subscriptionCount, 2)
    expectEqual(requested(upstream.connections.last), .max(3))
    for value in 2...9 { upstream.send(value) }
    expectEqual(recorder.values, [1, 2, 3, 4])
    recorder.cancel()
  }

  // MARK: (d) Ends

  @Test("one end comes, whatever the upstream sends behind it", arguments: PolicyUnderTest.all)
  func oneEnd(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    let recorder = subscribe(subject)
    subject.release()
    upstream.send(1)
    let connection = try #require(upstream.connections.last)
    connection.send(completion: row.passing)
    connection.send(completion: row.passing)
    connection.send(2)
    connection.send(completion: row.again)
    subject.release()
    expectEqual(recorder.values, [1])
    expectEqual(recorder.completions.count, 1)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(subject.log.counts, .init(begun: 1, ended: 1))
    #expect(subject.isIdle())
  }

  @Test(
    "nothing is heard of an attempt that has another behind it",
    arguments: PolicyUnderTest.all.filter(\.triesAgain)
  )
  func superseded(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    let recorder = subscribe(subject)
    let first = try #require(upstream.connections.last)
    // Twice while it waits, and again when the next one runs.
    first.send(completion: row.again)
    first.send(completion: row.again)
    first.send(completion: row.passing)
    first.send(1)
    subject.release()
    expectEqual(upstream.subscriptionCount, 2)
    first.send(2)
    first.send(completion: row.passing)
    first.send(completion: row.again)
    subject.release()
    expectEqual(upstream.subscriptionCount, 2)
    upstream.send(3)
    upstream.send(completion: row.passing)
    expectEqual(recorder.values, [3])
    expectEqual(recorder.completions.count, 1)
    expectEqual(subject.log.counts, .init(begun: 1, ended: 1))
  }

  @Test("an upstream that sends before its subscription, or never has one, ends once", arguments: PolicyUnderTest.all)
  func withoutSubscription(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    let lawless = TestPublisher<Int, any Error>(handingOver: { subscriber in
      _ = subscriber.receive(1)
      subscriber.receive(completion: row.passing)
      subscriber.receive(subscription: Subscriptions.empty)
      _ = subscriber.receive(2)
      subscriber.receive(completion: row.passing)
    })
    let recorder = subscribe(subject, to: lawless)
    subject.release()
    #expect(recorder.values.isEmpty)
    expectEqual(recorder.completions.count, 1)
    expectEqual(subject.log.counts, .init(begun: 1, ended: 1))
    #expect(subject.isIdle())
  }

  // MARK: (e) Stack

  @Test("ten thousand ends one after the other take the stack of one", arguments: PolicyUnderTest.all)
  func flatStack(row: PolicyUnderTest) throws {
    let many = 10_000
    let depths = EventLog<UInt>()
    func ending(with end: @escaping (Int) -> Subscribers.Completion<any Error>) -> TestPublisher<Int, any Error> {
      TestPublisher { connection in
        var here = 0
        let number = withUnsafePointer(to: &here) { depths.number(UInt(bitPattern: $0)) }
        connection.send(completion: end(number))
      }
    }
    switch row.chain {
    case .nothing:
      #expect(!row.triesAgain && row.wait == .never)
      return
    case .attempts(let make):
      let recorder = subscribe(try make(many), to: ending { $0 > many ? .finished : row.again })
      expectEqual(depths.count, many + 1)
      expectEqual(recorder.completions.count, 1)
    case .executions(let make):
      let subject = try make(scheduler, many)
      try subject.block()
      let upstream = ending { _ in .finished }
      let recorders = (0..<many).map { _ in subscribe(subject, to: upstream) }
      expectEqual(depths.count, 0)
      // The second one for what a second of the scheduler did not reach.
      for _ in 0..<2 { subject.release() }
      expectEqual(depths.count, many)
      expectEqual(recorders.count(where: \.isFinished), many)
      #expect(subject.isIdle())
    }
    // AddressSanitizer keeps such a variable elsewhere, in a place that it does not use again soon.
    #if !ASAN
      #expect((depths.entries.max() ?? 0) - (depths.entries.min() ?? 0) < 64 * 1_024)
    #endif
  }

  // MARK: (f) Time

  @Test(
    "the time is read as often as the row says, and never twice for one decision",
    arguments: PolicyUnderTest.all,
    PolicyUnderTest.Course.allCases
  )
  func reads(row: PolicyUnderTest, course: PolicyUnderTest.Course) throws {
    let subject = try row.make(scheduler)
    if course == .waiting, row.wait == .beforeTheFirst { try subject.block() }
    let recorder = subscribe(subject)
    subject.release()
    switch course {
    case .passing: upstream.send(completion: row.passing)
    case .waiting:
      if row.wait == .afterAnEnd { upstream.send(completion: row.again) }
      subject.release()
      upstream.send(completion: row.passing)
    case .again:
      for _ in 0..<min(row.attempts, 3) {
        subject.release()
        upstream.send(completion: row.again)
      }
      if row.attempts > 3 {
        subject.release()
        upstream.send(completion: row.passing)
      }
    case .cancelled: recorder.cancel()
    }
    expectEqual(subject.log.reads, row.reads[course])
    #expect(subject.log.mostReadsInADecision <= 1)
  }

  @Test(
    "an asynchronous function reads it as often",
    arguments: PolicyUnderTest.all,
    PolicyUnderTest.Course.allCases.filter { $0 != .cancelled }
  )
  func readsOfFunctions(row: PolicyUnderTest, course: PolicyUnderTest.Course) async throws {
    let subject = try row.make(scheduler)
    if course == .waiting, row.wait == .beforeTheFirst { try subject.block() }
    _ = await result(of: subject, ends(of: row, course))
    expectEqual(subject.log.reads, row.functionReads[course] ?? row.reads[course])
    #expect(subject.log.mostReadsInADecision <= 1)
  }

  @Test("a breaker reads it once for a failure, and once for a refusal")
  func readsOfBreaker() throws {
    let subject = PolicySubject(try CircuitBreaker("service", policy: .consecutive(1)))
    for _ in 0..<2 {
      _ = subscribe(subject)
      upstream.send(completion: .failure(TestFailure.transient))
    }
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(subject.log.reads, 2)
    expectEqual(subject.log.mostReadsInADecision, 1)
  }

  @Test("a limit of time reads it once when it is reached, and so does a refused wait")
  func readsOfEnds() throws {
    let timeout = PolicySubject(TimeoutPolicy.total(.seconds(1)))
    let recorder = subscribe(timeout)
    let readsBefore = timeout.log.reads
    scheduler.advance(by: .seconds(1))
    #expect(recorder.failure is TimedOut)
    expectEqual(timeout.log.reads, readsBefore + 1)
    expectEqual(timeout.log.mostReadsInADecision, 1)
    let limiter = try RateLimiter("service", policy: .tokenBucket(1, per: .seconds(1)))
    try limiter.acquire(on: scheduler.time)
    let limited = PolicySubject(limiter)
    #expect(subscribe(limited).failure is RateLimited)
    expectEqual(limited.log.reads, 1)
  }

  // MARK: (g) Asynchronous functions

  /// The ends of the attempts of an execution that goes so.
  private func ends(
    of row: PolicyUnderTest,
    _ course: PolicyUnderTest.Course
  ) -> [Subscribers.Completion<any Error>] {
    switch course {
    case .passing, .cancelled: [row.passing]
    case .again: Array(repeating: row.again, count: min(row.attempts, 3)) + (row.attempts > 3 ? [row.passing] : [])
    case .waiting: row.wait == .afterAnEnd ? [row.again, row.passing] : [row.passing]
    }
  }

  /// Runs a function whose attempts end so, one after the other, and lets it go on wherever it waits.
  private func result(
    of subject: PolicySubject,
    _ ends: [Subscribers.Completion<any Error>]
  ) async -> Result<Int, any Error> {
    let (calls, over) = (EventLog<Void>(), EventLog<Void>())
    let time = scheduler.time
    let outcomes: [Result<Void, any Error>] = ends.map { end in
      if case .failure(let error) = end { .failure(error) } else { .success(()) }
    }
    let task = Task {
      defer { over.write(()) }
      return try await subject.run(time) {
        let number = calls.number(())
        try outcomes[min(number, outcomes.count) - 1].get()
        return number
      }
    }
    while over.count == 0 {
      if subject.isWaiting() { subject.release() }
      await Task.yield()
    }
    return await task.result
  }

  /// The same for a publisher: its last value, or its failure.
  private func published(
    by subject: PolicySubject,
    _ ends: [Subscribers.Completion<any Error>]
  ) -> Result<Int, any Error>? {
    let calls = EventLog<Void>()
    let source = TestPublisher<Int, any Error> { connection in
      let number = calls.number(())
      let end = ends[min(number, ends.count) - 1]
      if case .finished = end { connection.send(number) }
      connection.send(completion: end)
    }
    let recorder = subscribe(subject, to: source)
    for _ in 0..<ends.count { subject.release() }
    switch recorder.completion {
    case .finished: return recorder.values.last.map { .success($0) }
    case .failure(let error): return .failure(error)
    case nil: return nil
    }
  }

  @Test(
    "a function ends as a publisher does",
    arguments: PolicyUnderTest.all,
    PolicyUnderTest.Course.allCases.filter { $0 != .cancelled }
  )
  func asyncEnd(row: PolicyUnderTest, course: PolicyUnderTest.Course) async throws {
    let (function, publisher) = (try row.make(scheduler), try row.make(scheduler))
    let isBlocked = course == .waiting && row.wait == .beforeTheFirst
    let ends = ends(of: row, course)
    if isBlocked { try function.block() }
    let result = await result(of: function, ends)
    if isBlocked { try publisher.block() }
    let expected = try #require(published(by: publisher, ends))
    switch (result, expected) {
    case (.success(let one), .success(let other)): expectEqual(one, other)
    case (.failure(let one), .failure(let other)): expectEqual(one as? TestFailure, other as? TestFailure)
    case (let one, let other): Issue.record("the function has \(one), the publisher \(other)")
    }
    expectEqual(scheduler.pendingCount, 0)
    // A breaker that has opened lets the next one in then.
    scheduler.advance(by: .seconds(1))
    for subject in [function, publisher] {
      expectEqual(subject.log.counts.cancelled, 0)
      expectEqual(subject.log.counts.ended, subject.log.counts.begun)
      #expect(subject.isIdle())
    }
  }

  @Test("a function whose task is cancelled before does not begin, and leaves nothing", arguments: PolicyUnderTest.all)
  func asyncCancelBefore(row: PolicyUnderTest) async throws {
    let subject = try row.make(scheduler)
    if row.wait == .beforeTheFirst { try subject.block() }
    let (time, calls) = (scheduler.time, EventLog<Void>())
    let task = Task {
      await untilCancelled()
      return try await subject.run(time) {
        calls.write(())
        return 1
      }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expectEqual(calls.count, 0)
    expectEqual(scheduler.pendingCount, 0)
    expectEqual(subject.log.counts, .init(begun: 0, ended: 0, cancelled: 0))
    subject.release()
    #expect(subject.isIdle())
  }

  @Test("a cancel of a function that waits gives all back", arguments: PolicyUnderTest.all.filter { $0.wait != .never })
  func asyncCancelInWait(row: PolicyUnderTest) async throws {
    let subject = try row.make(scheduler)
    if row.wait == .beforeTheFirst { try subject.block() }
    let (time, calls) = (scheduler.time, EventLog<Int>())
    let task = Task {
      try await subject.run(time) {
        calls.write(1)
        if row.triesAgainAfterFailure { throw TestFailure.transient }
        return 1
      }
    }
    while !subject.isWaiting() { await Task.yield() }
    task.cancel()
    await #expect(throws: (any Error).self) { try await task.value }
    expectEqual(scheduler.pendingCount, 0)
    expectEqual(calls.count, row.wait == .afterAnEnd ? 1 : 0)
    expectEqual(subject.log.counts, .init(begun: 1, ended: 1, cancelled: 1))
    subject.release()
    #expect(subject.isIdle())
  }

  @Test("a cancel of a function that runs gives all back", arguments: PolicyUnderTest.all)
  func asyncCancel(row: PolicyUnderTest) async throws {
    let subject = try row.make(scheduler)
    let (time, begun) = (scheduler.time, EventLog<Void>())
    let task = Task {
      try await subject.run(time) {
        begun.write(())
        await untilCancelled()
        throw CancellationError()
      }
    }
    while begun.count == 0 {
      if subject.isWaiting() { subject.release() }
      await Task.yield()
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expectEqual(scheduler.pendingCount, 0)
    expectEqual(subject.log.counts.cancelled, subject.log.counts.begun)
    #expect(subject.isIdle())
  }

  // MARK: The list

  @Test("a type is found wherever it says that it conforms")
  func conformances() {
    let text = """
      public struct Plain: Policy {
      }
      extension Extended: Sendable, Policy where Base: Policy {
        public struct Inner<Base: Policy>: Sendable & Policy {
        }
      }
      #if Redis
        final class Guarded<Key: Hashable & Sendable, Policy: Sendable>: Other {
          private struct Broken:
            Policy
          {
          }
        }
      #endif
      /// struct Mentioned: Policy {
      struct Holder { let policy: any Policy }
      """
    let types = Conformances.types(in: text, conformingTo: "Policy")
    expectEqual(types, ["Plain", "Extended", "Extended.Inner", "Guarded.Broken"])
  }

  @Test("every policy of the sources is in the table, or says why not, or where it keeps the contract")
  func registered() throws {
    let found = try Conformances(to: "Policy").types
    let known = PolicyUnderTest.all.reduce(into: Set(PolicyUnderTest.exempt.keys)) { $0.formUnion($1.types) }
      .union(PolicyUnderTest.elsewhere.keys)
    #expect(found.subtracting(known).isEmpty, "not in PolicyUnderTest.all")
    #expect(known.subtracting(found).isEmpty, "in the table, and not in the sources")
    for (type, file) in PolicyUnderTest.elsewhere {
      let tests = try String(contentsOf: Conformances.package.appending(path: "Tests/\(file)"), encoding: .utf8)
      #expect(tests.contains("@Test") && tests.contains(type), "\(file) does not test \(type)")
    }
  }
}
