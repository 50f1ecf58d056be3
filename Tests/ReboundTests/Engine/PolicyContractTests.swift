import Combine
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
    #expect(subject.log.counts == .init(begun: 1, ended: 1, cancelled: cancels))
    #expect(scheduler.pendingCount == 0)
    for connection in upstream.connections {
      connection.send(7)
      connection.send(completion: row.passing)
    }
    subject.release()
    scheduler.advance(by: .seconds(100))
    #expect(recorder.events.count == events)
    #expect(upstream.subscriptionCount == attempts)
    #expect(subject.isIdle())
    #expect(subject.log.counts == .init(begun: 1, ended: 1, cancelled: cancels))
    #expect(scheduler.pendingCount == 0)
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
    #expect(upstream.subscriptionCount == other.subscriptionCount)
    #expect(upstream.subscriptionCount > (row.triesAgain ? 2 : 0))
    #expect(one.completions.count == two.completions.count)
    one.cancel()
    two.cancel()
    #expect(subject.log.counts.ended == 2)
    #expect(subject.log.counts.overlaps == 0)
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
    #expect(two.values == [1])
    #expect(two.completions.count == 1)
    #expect(subject.log.counts == .init(begun: 2, ended: 2, cancelled: 1))
    #expect(subject.isIdle())
    #expect(scheduler.pendingCount == 0)
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
    #expect(upstream.subscriptionCount == 0)
    #expect(subject.log.counts == .init())
    #expect(scheduler.pendingCount == 0)
    #expect(subject.isIdle())
  }

  @Test("a cancel while it waits", arguments: PolicyUnderTest.all.filter { $0.wait != .never })
  func cancelInWait(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    if row.wait == .beforeTheFirst { try subject.block() }
    let recorder = subscribe(subject)
    if row.wait == .afterAnEnd { upstream.send(completion: row.again) }
    #expect(subject.isWaiting())
    #expect(upstream.subscriptionCount == (row.wait == .afterAnEnd ? 1 : 0))
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
      #expect(upstream.subscriptionCount == 2)
    }
    let connection = try #require(upstream.connections.last)
    recorder.cancel()
    #expect(connection.cancelCount == 1)
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
    #expect(connection.send(1) == .none)
    #expect(connection.cancelCount == 1)
    #expect(recorder.values == [1])
    expectNothingIsLeft(of: subject, row, recorder)
  }

  @Test("a cancel from inside the completion: it is over already", arguments: PolicyUnderTest.all)
  func cancelInCompletion(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    let kept = Locked<(any Subscription)?>(nil)
    let recorder = Recorder<Int, any Error>()
    subject.protect(upstream.eraseToAnyPublisher(), scheduler.time).subscribe(
      AnySubscriber(
        receiveSubscription: { subscription in
          kept.withLock { $0 = subscription }
          recorder.receive(subscription: subscription)
        },
        receiveValue: recorder.receive,
        receiveCompletion: { completion in
          kept.withLock { $0 }?.cancel()
          recorder.receive(completion: completion)
        }
      )
    )
    subject.release()
    upstream.send(completion: row.passing)
    #expect(recorder.completions.count == 1)
    expectNothingIsLeft(of: subject, row, recorder, cancels: 0)
    kept.withLock { $0 = nil }
  }

  // MARK: (c) Demand

  @Test("no more comes than was requested", arguments: PolicyUnderTest.all)
  func demand(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    let recorder = subscribe(subject, requesting: .max(2))
    subject.release()
    #expect(requested(upstream.connections.last) == .max(2))
    for value in 1...5 { upstream.send(value) }
    #expect(recorder.values == [1, 2])
    recorder.request(.max(1))
    #expect(requested(upstream.connections.last) == .max(3))
    for value in 6...9 { upstream.send(value) }
    #expect(recorder.values == [1, 2, 6])
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
    #expect(upstream.subscriptionCount == 0)
    subject.release()
    #expect(requested(upstream.connections.last) == .max(2))
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
    #expect(upstream.subscriptionCount == 2)
    #expect(requested(upstream.connections.last) == .max(3))
    for value in 2...9 { upstream.send(value) }
    #expect(recorder.values == [1, 2, 3, 4])
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
    #expect(recorder.values == [1])
    #expect(recorder.completions.count == 1)
    #expect(upstream.subscriptionCount == 1)
    #expect(subject.log.counts == .init(begun: 1, ended: 1))
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
    #expect(upstream.subscriptionCount == 2)
    first.send(2)
    first.send(completion: row.passing)
    first.send(completion: row.again)
    subject.release()
    #expect(upstream.subscriptionCount == 2)
    upstream.send(3)
    upstream.send(completion: row.passing)
    #expect(recorder.values == [3])
    #expect(recorder.completions.count == 1)
    #expect(subject.log.counts == .init(begun: 1, ended: 1))
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
    #expect(recorder.completions.count == 1)
    #expect(subject.log.counts == .init(begun: 1, ended: 1))
    #expect(subject.isIdle())
  }

  // MARK: (e) Stack

  private static let many = 10_000

  /// Each with an end after which it tries again at once.
  private static let eager: [(name: String, subject: PolicySubject, again: Subscribers.Completion<any Error>)] = [
    (
      "RetryPolicy", PolicySubject(RetryPolicy<any Error>(clamping: many, backoff: .immediate)),
      .failure(TestFailure.transient)
    ),
    ("RepeatPolicy", PolicySubject(RepeatPolicy(times: many)), .finished),
    (
      "PolicyForFailure", PolicySubject(PolicyForFailure<RepeatPolicy, any Error>(RepeatPolicy(times: many))), .finished
    ),
    (
      "RetryOnPolicy",
      PolicySubject(
        Empty<Int, any Error>()
          .retry(on: { _ in true }, times: many, after: { _ in Just(1).setFailureType(to: (any Error).self) }).policy
      ), .failure(TestFailure.transient)
    ),
    (
      "RetryWhenPolicy",
      PolicySubject(
        Empty<Int, any Error>()
          .retry { (errors: AnyPublisher<any Error, Never>) in errors.setFailureType(to: (any Error).self) }.policy
      ), .failure(TestFailure.transient)
    ),
  ]

  @Test("ten thousand ends one after the other take the stack of one", arguments: eager.indices)
  func flatStack(index: Int) {
    let (_, subject, again) = Self.eager[index]
    var depths: [UInt] = []
    let upstream = TestPublisher<Int, any Error> { connection in
      var here = 0
      withUnsafePointer(to: &here) { depths.append(UInt(bitPattern: $0)) }
      connection.send(completion: depths.count > Self.many ? .finished : again)
    }
    let recorder = Recorder<Int, any Error>()
    subject.protect(upstream.eraseToAnyPublisher(), scheduler.time).subscribe(recorder)
    #expect(upstream.subscriptionCount == Self.many + 1)
    #expect(recorder.completions.count == 1)
    // AddressSanitizer keeps such a variable elsewhere, in a place that it does not use again soon.
    #if !ASAN
      #expect((depths.max() ?? 0) - (depths.min() ?? 0) < 64 * 1_024)
    #endif
  }

  // MARK: (f) Time

  /// The time of the scheduler, and how often it was read.
  private func counting() -> (TimeSource, EventLog<Duration>) {
    let (time, reads) = (scheduler.time, EventLog<Duration>())
    let source = TimeSource(
      now: {
        reads.write(time.now)
        return time.now
      },
      after: { time.after($0, $1) }
    )
    return (source, reads)
  }

  @Test("the time is read only where it decides", arguments: PolicyUnderTest.all.filter { !$0.triesAgainAfterFinish })
  func reads(row: PolicyUnderTest) throws {
    let subject = try row.make(scheduler)
    let (time, reads) = counting()
    let recorder = Recorder<Int, any Error>()
    subject.protect(upstream.eraseToAnyPublisher(), time).subscribe(recorder)
    if row.testDescription.isEmpty { subject.release() }
    upstream.send(1)
    upstream.send(completion: .finished)
    #expect(recorder.completions.count == 1)
    #expect(reads.count == row.readsOnSuccess)
  }

  @Test(
    "an asynchronous function reads the time no more often",
    arguments: PolicyUnderTest.all.filter { !$0.triesAgainAfterFinish && $0.wait != .beforeTheFirst }
  )
  func asyncReads(row: PolicyUnderTest) async throws {
    let subject = try row.make(scheduler)
    let (time, reads) = counting()
    #expect(try await subject.run(time) { 1 } == 1)
    #expect(reads.count <= row.readsOnSuccess)
  }

  @Test("the standard retry reads no time for a success, and one for each failure")
  func readsOfRetry() {
    let (time, reads) = counting()
    let recorder = Recorder<Int, any Error>()
    Publishers.WithPolicy(upstream: upstream, policy: RetryPolicy<any Error>.standard, time: time).subscribe(recorder)
    for failures in 1...2 {
      upstream.send(completion: .failure(TestFailure.transient))
      #expect(reads.count == failures)
      scheduler.advance(by: .seconds(60))
    }
    #expect(upstream.subscriptionCount == 3)
    upstream.send(completion: .finished)
    #expect(recorder.isFinished)
    #expect(reads.count == 2)
  }

  @Test("a breaker reads it once for a failure, and once for a refusal")
  func readsOfBreaker() throws {
    let (time, reads) = counting()
    let breaker = try CircuitBreaker("service", policy: .consecutive(1))
    for _ in 0..<2 {
      Publishers.WithPolicy(upstream: upstream, policy: breaker, time: time).subscribe(Recorder<Int, any Error>())
      upstream.send(completion: .failure(TestFailure.transient))
    }
    #expect(upstream.subscriptionCount == 1)
    #expect(reads.count == 2)
  }

  // MARK: (g) Asynchronous functions

  @Test("a function ends as a publisher does", arguments: PolicyUnderTest.all.filter { $0.wait != .beforeTheFirst })
  func asyncEnd(row: PolicyUnderTest) async throws {
    let subject = try row.make(scheduler)
    if !row.triesAgainAfterFinish { #expect(try await subject.run(scheduler.time) { 1 } == 1) }
    if !row.triesAgainAfterFailure {
      await #expect(throws: TestFailure.permanent) {
        try await subject.run(scheduler.time) { throw TestFailure.permanent }
      }
    }
    #expect(scheduler.pendingCount == 0)
    #expect(subject.log.counts.cancelled == 0)
    #expect(subject.log.counts.ended == subject.log.counts.begun)
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
    #expect(scheduler.pendingCount == 0)
    #expect(calls.count == (row.wait == .afterAnEnd ? 1 : 0))
    #expect(subject.log.counts == .init(begun: 1, ended: 1, cancelled: 1))
    subject.release()
    #expect(subject.isIdle())
  }

  @Test("a cancel of a function that runs gives all back", arguments: PolicyUnderTest.all.filter { $0.types != [] })
  func asyncCancel(row: PolicyUnderTest) async throws {
    let subject = try row.make(scheduler)
    let time = scheduler.time
    let (begun, continuation) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await subject.run(time) {
        continuation.yield()
        await untilCancelled()
        throw CancellationError()
      }
    }
    for await _ in begun { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(scheduler.pendingCount == 0)
    #expect(subject.log.counts.cancelled == subject.log.counts.begun)
    #expect(subject.isIdle())
  }

  // MARK: The list

  @Test("every policy of the sources is in the table, or says why not")
  func registered() throws {
    let sources = URL(filePath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Sources/Rebound")
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    let declaration = /^(?:@\w+ |\w+ )*(?:struct|class|enum|actor|extension) (\w+)(?:<[^{]*>)?: ([^{]*)\{/
      .anchorsMatchLineEndings()
    var found: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      for match in try String(contentsOf: file, encoding: .utf8).matches(of: declaration) {
        let inherited = String(match.2.split(separator: "where").first ?? "")
        let names = inherited.split(separator: ",").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        if names.contains("Policy") { found.insert(String(match.1)) }
      }
    }
    let known = PolicyUnderTest.all.reduce(into: Set(PolicyUnderTest.exempt.keys)) { $0.formUnion($1.types) }
    #expect(found.subtracting(known).isEmpty, "not in PolicyUnderTest.all")
    #expect(known.subtracting(found).isEmpty, "in the table, and not in the sources")
  }
}
