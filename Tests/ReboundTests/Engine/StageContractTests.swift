import Combine
import Expectations
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@Suite("Stages keep the contract of policies")
struct StageContractTests {
  private typealias Connection = TestPublisher<Int, any Error>.Connection

  private let scheduler = TestScheduler()
  private let upstream = TestPublisher<Int, any Error>()

  private func subscribe(
    _ subject: StageUnderTest.Subject,
    requesting demand: Subscribers.Demand = .unlimited,
    answering answer: @escaping (Int, Recorder<Int, any Error>) -> Subscribers.Demand = { _, _ in .none }
  ) -> Recorder<Int, any Error> {
    let recorder = Recorder<Int, any Error>(requesting: demand, answering: answer)
    subject.protect(upstream.eraseToAnyPublisher()).subscribe(recorder)
    return recorder
  }

  /// What holds after each cancel.
  private func expectNothingIsLeft(of subject: StageUnderTest.Subject, _ recorder: Recorder<Int, any Error>) {
    let (events, attempts) = (recorder.events.count, upstream.subscriptionCount)
    expectEqual(scheduler.pendingCount, 0)
    for connection in upstream.connections {
      expectEqual(connection.cancelCount, 1)
      connection.send(7)
      connection.send(completion: .finished)
    }
    scheduler.advance(by: .seconds(100))
    expectEqual(recorder.events.count, events)
    expectEqual(upstream.subscriptionCount, attempts)
    expectEqual(scheduler.pendingCount, 0)
    #expect(subject.isIdle())
  }

  private func passWait(of row: StageUnderTest) {
    scheduler.advance(by: .init(row.wait))
  }

  // MARK: State

  @Test("a cancel of one execution leaves the other alone", arguments: StageUnderTest.all)
  func cancelOfTheOther(row: StageUnderTest) throws {
    let subject = try row.make(scheduler.time)
    let (one, two) = (subscribe(subject), subscribe(subject))
    passWait(of: row)
    expectEqual(upstream.subscriptionCount, row.sharesCalls ? 1 : 2)
    one.cancel()
    upstream.send(1)
    upstream.send(completion: .finished)
    passWait(of: row)
    #expect(one.values.isEmpty && one.completions.isEmpty)
    expectEqual(two.values, [1])
    #expect(two.isFinished)
    expectEqual(scheduler.pendingCount, 0)
    #expect(subject.isIdle())
  }

  // MARK: Cancel

  @Test("a cancel before it begins: nothing goes on", arguments: StageUnderTest.all)
  func cancelBefore(row: StageUnderTest) throws {
    let subject = try row.make(scheduler.time)
    let recorder = Recorder<Int, any Error>()
    subject.protect(upstream.eraseToAnyPublisher()).subscribe(
      AnySubscriber(
        receiveSubscription: { $0.cancel() },
        receiveValue: recorder.receive,
        receiveCompletion: recorder.receive(completion:)
      )
    )
    passWait(of: row)
    #expect(recorder.events.isEmpty)
    expectNothingIsLeft(of: subject, recorder)
  }

  @Test("a cancel while it waits", arguments: StageUnderTest.all.filter { $0.wait > .zero })
  func cancelInWait(row: StageUnderTest) throws {
    let subject = try row.make(scheduler.time)
    let recorder = subscribe(subject)
    upstream.send(1)
    expectEqual(scheduler.pendingCount, 1)
    recorder.cancel()
    expectNothingIsLeft(of: subject, recorder)
  }

  @Test("a cancel while its call runs", arguments: StageUnderTest.all)
  func cancelInAttempt(row: StageUnderTest) throws {
    let subject = try row.make(scheduler.time)
    let recorder = subscribe(subject)
    passWait(of: row)
    expectEqual(upstream.subscriptionCount, 1)
    recorder.cancel()
    recorder.cancel()
    expectNothingIsLeft(of: subject, recorder)
  }

  @Test("a cancel from inside a value", arguments: StageUnderTest.all)
  func cancelInValue(row: StageUnderTest) throws {
    let subject = try row.make(scheduler.time)
    let recorder = subscribe(subject) { _, recorder in
      recorder.cancel()
      return .max(1)
    }
    passWait(of: row)
    upstream.send(1)
    passWait(of: row)
    expectEqual(recorder.values, [1])
    expectNothingIsLeft(of: subject, recorder)
  }

  @Test("a cancel from inside the completion: it is over already", arguments: StageUnderTest.all)
  func cancelInCompletion(row: StageUnderTest) throws {
    let subject = try row.make(scheduler.time)
    let recorder = Recorder<Int, any Error>()
    subject.protect(upstream.eraseToAnyPublisher()).subscribe(recorder.cancellingAtItsEnd)
    passWait(of: row)
    upstream.send(completion: .finished)
    passWait(of: row)
    expectEqual(recorder.completions.count, 1)
    expectEqual(scheduler.pendingCount, 0)
    #expect(subject.isIdle())
  }

  @Test("a cancel inside of its call is no failure: it passes, and nothing follows", arguments: StageUnderTest.all)
  func cancelOfCall(row: StageUnderTest) throws {
    let subject = try row.make(scheduler.time)
    let recorder = subscribe(subject)
    passWait(of: row)
    upstream.send(completion: .failure(CancellationError()))
    scheduler.advance(by: .seconds(100))
    #expect(recorder.values.isEmpty)
    #expect(recorder.failure is CancellationError)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(scheduler.pendingCount, 0)
    #expect(subject.isIdle())
  }

  // MARK: Demand and ends

  @Test("no more comes than was requested, and all of it in the end", arguments: StageUnderTest.all)
  func demand(row: StageUnderTest) throws {
    let subject = try row.make(scheduler.time)
    let recorder = Recorder<Int, any Error>(requesting: .max(2))
    let numbers = (1...5).publisher.setFailureType(to: (any Error).self)
    subject.protect(numbers.eraseToAnyPublisher()).subscribe(recorder)
    scheduler.advance(by: .seconds(100))
    expectEqual(recorder.values, Array([1, 2].prefix(row.valueLimit)))
    recorder.request(.max(1))
    scheduler.advance(by: .seconds(100))
    expectEqual(recorder.values, Array([1, 2, 3].prefix(row.valueLimit)))
    recorder.request(.unlimited)
    scheduler.advance(by: .seconds(100))
    expectEqual(recorder.values, Array([1, 2, 3, 4, 5].prefix(row.valueLimit)))
    #expect(recorder.isFinished)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("one end comes, whatever the upstream sends behind it", arguments: StageUnderTest.all)
  func oneEnd(row: StageUnderTest) throws {
    let subject = try row.make(scheduler.time)
    let recorder = subscribe(subject)
    passWait(of: row)
    upstream.send(1)
    let connection = try #require(upstream.connections.last)
    for end in [.finished, .finished, .failure(TestFailure.transient)] as [Subscribers.Completion<any Error>] {
      connection.send(completion: end)
    }
    scheduler.advance(by: .seconds(100))
    expectEqual(recorder.values, [1])
    expectEqual(recorder.completions.count, 1)
    #expect(recorder.isFinished)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(scheduler.pendingCount, 0)
    #expect(subject.isIdle())
  }

  // MARK: Asynchronous functions

  /// Runs a function, and lets time pass while it waits.
  private func result(
    of subject: StageUnderTest.Subject,
    _ operation: @escaping @Sendable () throws -> Int
  ) async -> Result<Int, any Error> {
    let over = EventLog<Void>()
    let task = Task {
      defer { over.write(()) }
      return try await subject.run { try operation() }
    }
    while over.count == 0 {
      if scheduler.pendingCount > 0 { scheduler.advance(by: .seconds(1)) }
      await Task.yield()
    }
    return await task.result
  }

  @Test("a function ends as a publisher does", arguments: StageUnderTest.all)
  func asyncEnd(row: StageUnderTest) async throws {
    let success = await result(of: try row.make(scheduler.time)) { 1 }
    try expectEqual(success.get(), 1)
    let subject = try row.make(scheduler.time)
    let recorder = subscribe(subject)
    for number in 1...3 {
      scheduler.advance(by: .seconds(1))
      if number <= upstream.subscriptionCount {
        upstream.connections[number - 1].send(completion: .failure(TestFailure.permanent))
      }
    }
    scheduler.advance(by: .seconds(1))
    let failure = await result(of: try row.make(scheduler.time)) { throw TestFailure.permanent }
    if let replacement = row.replacement {
      try expectEqual(failure.get(), replacement)
      expectEqual(recorder.values, [replacement])
    } else {
      #expect(throws: TestFailure.permanent) { try failure.get() }
      expectEqual(recorder.failure as? TestFailure, .permanent)
    }
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("a cancel of a function gives all back, before it begins and while it runs", arguments: StageUnderTest.all)
  func asyncCancel(row: StageUnderTest) async throws {
    for isBegun in [false, true] {
      let subject = try row.make(scheduler.time)
      let begun = EventLog<Void>()
      let task = Task {
        if !isBegun { await untilCancelled() }
        return try await subject.run {
          begun.write(())
          await untilCancelled()
          throw CancellationError()
        }
      }
      while isBegun, begun.count == 0 {
        if row.wait > .zero, scheduler.pendingCount > 0 { scheduler.advance(by: .seconds(1)) }
        await Task.yield()
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      expectEqual(begun.count, isBegun ? 1 : 0)
      expectEqual(scheduler.pendingCount, 0)
      #expect(subject.isIdle())
    }
  }

  // MARK: Time

  @Test("the time is read as often as the row says", arguments: StageUnderTest.all)
  func reads(row: StageUnderTest) async throws {
    let (time, reads) = (scheduler.time, EventLog<Duration>())
    let counting = TimeSource(
      now: {
        reads.write(time.now)
        return time.now
      },
      after: { time.after($0, $1) }
    )
    _ = subscribe(try row.make(counting))
    passWait(of: row)
    upstream.send(1)
    upstream.send(completion: .finished)
    passWait(of: row)
    let published = reads.count
    expectEqual(published, row.reads.publisher)
    _ = await result(of: try row.make(counting)) { 1 }
    expectEqual(reads.count - published, row.reads.function)
  }

  // MARK: The list

  @Test("every stage of the sources is in the table")
  func registered() throws {
    let found = try Conformances(to: "PipelineStage").types
    let known = StageUnderTest.all.reduce(into: Set<String>()) { $0.formUnion($1.types) }
    #expect(found.subtracting(known).isEmpty, "not in StageUnderTest.all")
    #expect(known.subtracting(found).isEmpty, "in the table, and not in the sources")
  }
}
