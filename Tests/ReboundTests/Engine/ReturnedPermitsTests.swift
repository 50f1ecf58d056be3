import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

/// Whatever ends an execution, also from outside of it, what it was granted comes back: a place, a turn, a probe, a retry.
@Suite("What is granted comes back")
struct ReturnedPermitsTests {
  private typealias Upstream = TestPublisher<Int, any Error>
  private typealias Attempts = AnyPublisher<Int, any Error>

  /// What ends an execution, or stands around it and ends it.
  enum End: CaseIterable {
    case success, failure, refusal, cancel, cancelOfAttempt, timeout, replaced, hedged, retried, enoughValues, released
  }

  /// Where the execution is then.
  enum Phase: CaseIterable { case waiting, running }

  private let scheduler = TestScheduler()
  private let upstream = Upstream()

  private func surrounded(_ attempts: Attempts, by end: End) throws -> Attempts {
    let time = scheduler.time
    switch end {
    case .timeout: return attempts.timeout(.total(.seconds(1)), time: time).eraseToAnyPublisher()
    case .replaced: return attempts.fallback(to: -1).eraseToAnyPublisher()
    case .hedged:
      return attempts.hedged(try HedgePolicy(delay: .after(.milliseconds(500))), time: time).eraseToAnyPublisher()
    case .retried:
      return attempts.retry(RetryPolicy(clamping: 1, backoff: .immediate), time: time).eraseToAnyPublisher()
    case .enoughValues: return attempts.prefix(1).eraseToAnyPublisher()
    case .success, .failure, .refusal, .cancel, .cancelOfAttempt, .released: return attempts
    }
  }

  /// Brings the end about.
  private func end(_ end: End, _ recorder: Recorder<Int, any Error>) {
    switch end {
    case .success:
      upstream.send(1)
      upstream.send(completion: .finished)
    case .failure, .replaced: upstream.send(completion: .failure(TestFailure.permanent))
    case .cancel: recorder.cancel()
    case .cancelOfAttempt: upstream.send(completion: .failure(CancellationError()))
    case .timeout: scheduler.advance(by: .seconds(1))
    case .hedged:
      // The hedge is let in, is refused or waits; then the last that runs wins.
      scheduler.advance(by: .milliseconds(500))
      upstream.send(1)
      upstream.send(completion: .finished)
    case .retried:
      upstream.send(completion: .failure(TestFailure.permanent))
      upstream.send(1)
      upstream.send(completion: .finished)
    case .enoughValues: upstream.send(1)
    case .refusal, .released: break
    }
  }

  /// What holds when all is over.
  private func expectAllIsBack(_ subject: PolicySubject, _ row: PolicyUnderTest) {
    // Whoever waits is let go on, and so is a breaker that has opened; whatever runs then ends.
    for _ in 0..<4 {
      subject.release()
      // Longer than any limit of time, which is what ends whoever was forgotten.
      scheduler.advance(by: .seconds(1_000))
      for connection in upstream.connections { connection.send(completion: row.passing) }
    }
    #expect(subject.isIdle())
    expectEqual(scheduler.pendingCount, 0)
    expectEqual(subject.log.counts.ended, subject.log.counts.begun)
    expectEqual(subject.log.counts.overlaps, 0)
  }

  @Test("of a publisher, whatever ends it", arguments: PolicyUnderTest.all, End.allCases)
  func publisher(row: PolicyUnderTest, end: End) throws {
    // Who tries again for ever does not end with a refusal, and is held by what it waits for.
    if row.attempts == .max, [.refusal, .released].contains(end) { return }
    for phase in Phase.allCases {
      if phase == .waiting, row.wait == .never { continue }
      let subject = try row.make(scheduler)
      try subject.block()
      let isolated = try CircuitBreaker("inner", policy: .consecutive(1))
      isolated.isolate()
      let attempts: Attempts =
        end == .refusal ? upstream.protected(by: isolated).eraseToAnyPublisher() : upstream.eraseToAnyPublisher()
      let recorder = Recorder<Int, any Error>()
      let protected = try surrounded(subject.protect(attempts, scheduler.time), by: end)
      if end == .released {
        // Nobody holds the subscription, and the upstream forgets its subscriber.
        protected.subscribe(AnySubscriber(receiveSubscription: { _ in }))
        for connection in upstream.connections { connection.letGo() }
      } else {
        protected.subscribe(recorder)
      }
      if phase == .running {
        subject.release()
      } else if row.wait == .afterAnEnd {
        upstream.send(completion: row.again)
      }
      self.end(end, recorder)
      // What could not end while it waits ends when it runs.
      if phase == .waiting, ![.cancel, .timeout, .released].contains(end) {
        subject.release()
        self.end(end, recorder)
      }
      expectAllIsBack(subject, row)
    }
  }

  @Test("of a stage, whatever ends it", arguments: StageUnderTest.all, End.allCases)
  func stage(row: StageUnderTest, end: End) throws {
    // A call that is shared is held by its key until it ends.
    if row.sharesCalls, end == .released { return }
    let subject = try row.make(scheduler.time)
    let isolated = try CircuitBreaker("inner", policy: .consecutive(1))
    isolated.isolate()
    let attempts: Attempts =
      end == .refusal ? upstream.protected(by: isolated).eraseToAnyPublisher() : upstream.eraseToAnyPublisher()
    let recorder = Recorder<Int, any Error>()
    let protected = try surrounded(subject.protect(attempts), by: end)
    if end == .released {
      protected.subscribe(AnySubscriber(receiveSubscription: { _ in }))
      for connection in upstream.connections { connection.letGo() }
    } else {
      protected.subscribe(recorder)
    }
    scheduler.advance(by: .init(row.wait))
    self.end(end, recorder)
    scheduler.advance(by: .seconds(100))
    for connection in upstream.connections { connection.send(completion: .failure(TestFailure.permanent)) }
    scheduler.advance(by: .seconds(100))
    #expect(subject.isIdle())
    expectEqual(scheduler.pendingCount, 0)
  }

  // MARK: Functions

  /// What ends a function, or stands around it and ends it.
  enum FunctionEnd: CaseIterable {
    case success, failure, refusal, timeout, cooperativeTimeout, replaced, hedged, retried
  }

  private typealias Operation = @Sendable () async throws -> Int

  private func run(
    _ end: FunctionEnd,
    _ protected: @escaping @Sendable (@escaping Operation) async throws -> Int,
    begun: EventLog<Void>
  ) async throws -> Int {
    let time = scheduler.time
    let second = Duration.seconds(1)
    let answers: Operation = { 1 }
    let hangs: Operation = {
      begun.write(())
      await untilCancelled()
      throw CancellationError()
    }
    let fails: Operation = {
      begun.write(())
      throw TestFailure.permanent
    }
    switch end {
    case .success: return try await protected { 1 }
    case .failure: return try await protected(fails)
    case .refusal:
      let isolated = try CircuitBreaker("inner", policy: .consecutive(1))
      isolated.isolate()
      return try await protected { try await isolated.run(time: time) { 1 } }
    case .timeout: return try await TimeoutPolicy.total(second).run(time: time) { try await protected(hangs) }
    case .cooperativeTimeout:
      return try await TimeoutPolicy.total(second).cooperative().run(time: time) {
        try await protected {
          begun.write(())
          // Heeds the deadline, as all waits of the library do.
          return try await PauseBefore(pause: .seconds(100)).run(time: time) { 1 }
        }
      }
    case .replaced:
      return try await FallbackPolicy<any Error>().run({ try await protected(fails) }, fallback: { _ in -1 })
    case .hedged:
      return try await HedgePolicy<any Error>(delay: .after(second)).run(time: time) { hedge in
        try await protected(hedge == 0 ? hangs : answers)
      }
    case .retried:
      let policy = RetryPolicy<any Error>(clamping: 1, backoff: .immediate)
      return try await policy.run(time: time) { try await protected(begun.count == 0 ? fails : answers) }
    }
  }

  @Test("of a function, whatever ends it", arguments: PolicyUnderTest.all, FunctionEnd.allCases)
  func function(row: PolicyUnderTest, end: FunctionEnd) async throws {
    for phase in Phase.allCases {
      // A hedge that has to wait, for what a primary has that waits for nothing, never ends: that is for the user to avoid.
      if phase == .waiting, row.wait != .beforeTheFirst { continue }
      let subject = try row.make(scheduler)
      if phase == .waiting { try subject.block() }
      let (begun, over, time) = (EventLog<Void>(), EventLog<Void>(), scheduler.time)
      let task = Task {
        defer { over.write(()) }
        return try await run(end, { try await subject.run(time, $0) }, begun: begun)
      }
      var turns = 0
      while over.count == 0 {
        turns += 1
        if phase == .waiting, subject.isWaiting(), ![.timeout, .cooperativeTimeout].contains(end) { subject.release() }
        // The hedge of one that has the only place gets none: the caller gives up.
        if turns > 2_000 { task.cancel() }
        if scheduler.pendingCount > 0 { scheduler.advance(by: .milliseconds(500)) }
        await Task.yield()
      }
      _ = await task.result
      expectAllIsBack(subject, row)
    }
  }

  @Test("of the function of a stage, whatever ends it", arguments: StageUnderTest.all, FunctionEnd.allCases)
  func functionOfStage(row: StageUnderTest, end: FunctionEnd) async throws {
    let subject = try row.make(scheduler.time)
    let (begun, over) = (EventLog<Void>(), EventLog<Void>())
    let task = Task {
      defer { over.write(()) }
      return try await run(end, { try await subject.run($0) }, begun: begun)
    }
    var turns = 0
    while over.count == 0 {
      turns += 1
      // The hedge of a call that is shared is that call.
      if turns > 2_000 { task.cancel() }
      if scheduler.pendingCount > 0 { scheduler.advance(by: .milliseconds(500)) }
      await Task.yield()
    }
    _ = await task.result
    scheduler.advance(by: .seconds(100))
    #expect(subject.isIdle())
    expectEqual(scheduler.pendingCount, 0)
  }
}
