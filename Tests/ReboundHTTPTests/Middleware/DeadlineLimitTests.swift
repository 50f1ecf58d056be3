import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

/// Retries within the deadline of a call.
@Suite("A call with a deadline")
struct DeadlineLimitTests {
  static func retrying(every pause: Duration, deadline: Duration? = nil) -> Retrying {
    Retrying(RetryPolicy(clamping: 9, backoff: .constant(pause), deadline: deadline, random: .fixed(0)))
  }

  private func seconds(_ seconds: Double) -> VirtualTime { VirtualTime(nanoseconds: Int(seconds * 1e9)) }

  @Test("fails at once, with what the server said, when the back-off would end after the deadline")
  func computedDelay() throws {
    let slow = ScriptedTransport.Step.status(503).after(.seconds(1))
    let test = ClientUnderTest([slow], repeatingLast: true, [Self.retrying(every: .seconds(4))])
    let recorder = try test.run(Anything(deadline: .seconds(10)))
    // The attempts fail after 1 s and 6 s; the next one would begin at 10 s.
    let failure = try #require(recorder.failure)
    expectEqual(failure.kind, .serverError(503))
    expectEqual(failure.call.attempt, 2)
    expectEqual(failure.earlier.map(\.call.attempt), [1])
    expectEqual(recorder.completionTime, seconds(6))
    expectEqual(test.scheduler.pendingCount, 0)
  }

  @Test("says that there was no time for another attempt, in the failure and to who watches")
  func says() throws {
    let test = ClientUnderTest([.status(503)], [Self.retrying(every: .seconds(5))])
    let failure = try #require(try test.run(Anything(deadline: .seconds(5))).failure)
    expectEqual(failure.notRetriedBecause, .deadlineExceeded)
    #expect("\(failure)".contains("failed: 503; not tried again: deadline exceeded (attempt 1"))
    expectEqual(test.log.retries.map(\.outcome), [.stopped(.deadlineExceeded)])
  }

  @Test("says nothing more where the failure says enough")
  func evident() throws {
    for (step, reason) in [
      (.status(404), .notRetryable), (.status(503), .attemptsExhausted),
    ] as [(ScriptedTransport.Step, RetryEvent.Reason)] {
      let test = ClientUnderTest([step], repeatingLast: true, [Retrying(RetryPolicy(clamping: 1, backoff: .immediate))])
      let failure = try #require(try test.run(Anything(deadline: .seconds(5))).failure)
      expectEqual(failure.notRetriedBecause, reason)
      #expect(!"\(failure)".contains("not tried again"))
    }
    let alone = ClientUnderTest([.status(503)])
    #expect(try alone.run(Anything()).failure?.notRetriedBecause == nil)
  }

  @Test(
    "of two deadlines the nearer one counts, whoever has set it",
    arguments: [
      (2, nil, 2), (9, nil, 5), (2, 60, 2), (9, 60, 5), (9, 3, 3),
    ] as [(Int, Int?, Int)]
  )
  func nearer(outer: Int, current: Int?, expected: Int) throws {
    struct Hurry: HTTPMiddleware {
      let deadline: Deadline
      var place: MiddlewarePlace { .fallback }
      func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
        var request = request
        request.deadline = deadline
        return next(request)
      }
    }
    let scheduler = TestScheduler()
    let transport = ScriptedTransport([.silence])
    let client = WebAPIClient(
      baseURL: .service,
      transport: transport,
      middleware: [Hurry(deadline: Deadline(in: .seconds(outer), on: scheduler.time))],
      deliveringOn: nil,
      time: scheduler.time
    )
    let recorder = Recorder<Data, NetworkFailure>()
    Deadline.$current.withValue(current.map { Deadline(in: .seconds($0), on: scheduler.time) }) {
      client.publisher(for: Anything(deadline: .seconds(5))).subscribe(recorder)
    }
    try scheduler.run()
    expectEqual(transport.calls.map(\.request.limits.total), [.seconds(expected)])
    #expect(recorder.failure != nil)
  }

  @Test(
    "ends with the deadline that it runs under, though neither its request nor its client has one",
    arguments: [nil, 5, 60]
  )
  func currentDeadline(own: Int?) throws {
    let test = ClientUnderTest([.silence], [Coalescing()])
    let recorder = Recorder<Data, NetworkFailure>(on: test.scheduler)
    Deadline.$current.withValue(Deadline(in: .seconds(3), on: test.scheduler.time)) {
      test.client.publisher(for: Anything(deadline: own.map { .seconds($0) })).subscribe(recorder)
    }
    try test.scheduler.run()
    expectEqual(recorder.failure?.kind, .deadlineExceeded)
    expectEqual(recorder.completionTime, seconds(3))
    expectEqual(test.transport.calls.map(\.isCancelled), [true])
  }

  @Test("an asynchronous call ends with the cooperative timeout around it")
  func cooperativeTimeout() throws {
    let transport = ScriptedTransport([.silence])
    try Simulation(seed: 1).run {
      let client = WebAPIClient(baseURL: .service, transport: transport)
      let start = TimeSource.current.now
      do {
        _ = try await TimeoutPolicy.total(.seconds(3)).cooperative().run { try await client.value(of: Anything()) }
        try requireEqual("an answer", "a timeout")
      } catch let error as TimedOut {
        try requireEqual(error, TimedOut(.total, limit: .seconds(3)))
      }
      try requireEqual(TimeSource.current.now - start, .seconds(3))
    }
    expectEqual(transport.calls.map(\.isCancelled), [true])
  }

  @Test("leaves it to who enforces a deadline to say so, and tells the server what is left")
  func enforced() throws {
    var test = ClientUnderTest([.silence])
    test.client.deadlineHeader = "Grpc-Timeout"
    let recorder = Recorder<Data, any Error>(on: test.scheduler)
    test.client.publisher(for: Anything())
      .mapError { $0 as any Error }
      .protected(by: TimeoutPolicy.total(.seconds(3)), time: test.scheduler.time)
      .subscribe(recorder)
    try test.scheduler.run()
    #expect(recorder.failure is TimedOut)
    expectEqual(test.transport.calls.map { $0.request.headers["Grpc-Timeout"] }, ["3000m"])
  }

  @Test(
    "tells the server of a long time in a unit that leaves the number eight digits at most, as gRPC has it",
    arguments: [
      (.milliseconds(99_999_999), "99999999m"), (.milliseconds(100_000_000), "100000S"),
      (.seconds(99_999_999), "99999999S"), (.seconds(100_000_000), "27777H"), (.seconds(Int64.max), "99999999H"),
    ] as [(Duration, String)]
  )
  func longTime(left: Duration, field: String) throws {
    var test = ClientUnderTest([.ok("1")])
    test.client.deadlineHeader = "Grpc-Timeout"
    let recorder = Recorder<Data, NetworkFailure>(on: test.scheduler)
    Deadline.$current.withValue(Deadline(at: left, on: test.scheduler.time)) {
      test.client.publisher(for: Anything()).subscribe(recorder)
    }
    try test.scheduler.run()
    expectEqual(recorder.values, [Data("1".utf8)])
    expectEqual(test.transport.calls.map { $0.request.headers["Grpc-Timeout"] }, [field])
  }

  @Test(
    "is not the first to say so, in whatever order the timers of one moment ring",
    arguments: 1...20 as ClosedRange<UInt64>
  )
  func enforcedInAnyOrder(seed: UInt64) throws {
    try Simulation(seed: seed).run {
      let transport = ScriptedTransport([.silence], repeatingLast: true)
      let client = WebAPIClient(baseURL: .service, transport: transport, deliveringOn: nil)
      let calls = client.publisher(for: Anything())
        .mapError { $0 as any Error }
        .protected(by: TimeoutPolicy.attempt(.seconds(3)))
        .retry(RetryPolicy(clamping: 2, backoff: .immediate))
      do {
        for try await _ in calls.values {}
        try requireEqual("an answer", "a timeout")
      } catch let error as TimedOut {
        try requireEqual(error, TimedOut(.attempt, limit: .seconds(3)))
      }
      try requireEqual(transport.count, 3)
    }
  }

  @Test(
    "waits for what ends before the deadline, and not for what ends with it",
    arguments: [(Duration.nanoseconds(4_999_999_999), 2), (.seconds(5), 1), (.seconds(6), 1)]
  )
  func boundary(pause: Duration, attempts: Int) throws {
    let test = ClientUnderTest([.status(503), .ok(rome)], [Self.retrying(every: pause)])
    let recorder = try test.run(Anything(deadline: .seconds(5)))
    expectEqual(test.transport.count, attempts)
    expectEqual(recorder.failure == nil, attempts == 2)
  }

  @Test("keeps the nearest of its deadline, the client's and the policy's")
  func nearest() throws {
    for (request, client, policy) in [(5, 60, 60), (nil, 5, 60), (60, 5, 5), (nil, nil, 5)] as [(Int?, Int?, Int?)] {
      var test = ClientUnderTest(
        [.status(503)],
        repeatingLast: true,
        [Self.retrying(every: .seconds(2), deadline: policy.map { .seconds($0) })]
      )
      test.client.deadline = client.map { .seconds($0) }
      let recorder = try test.run(Anything(deadline: request.map { .seconds($0) }))
      expectEqual(recorder.failure?.kind, .serverError(503))
      expectEqual(recorder.completionTime, seconds(4), "\(request as Any), \(client as Any), \(policy as Any)")
    }
  }

  @Test("begins when the call does: one policy gives each call its whole time")
  func eachCall() throws {
    var test = ClientUnderTest([.status(503)], repeatingLast: true, [Self.retrying(every: .seconds(2))])
    test.client.deadline = .seconds(5)
    let publisher = test.client.publisher(for: Anything())
    for start in [0.0, 100, 200] {
      test.scheduler.advance(to: max(test.scheduler.now, seconds(start)))
      let recorder = Recorder<Data, NetworkFailure>(on: test.scheduler)
      publisher.subscribe(recorder)
      try test.scheduler.run()
      expectEqual(recorder.completionTime, seconds(start + 4))
    }
    expectEqual(test.transport.count, 9)
  }

  @Test("leaves the pause out that a server asks for, too, and tells how long it is")
  func hint() throws {
    let test = ClientUnderTest([.status(429, retryAfter: 30)], [Self.retrying(every: .seconds(1))])
    let recorder = try test.run(Anything(deadline: .seconds(20)))
    expectEqual(recorder.failure?.kind, .tooManyRequests)
    expectEqual(recorder.failure?.retryAfter, .seconds(30))
    expectEqual(recorder.failure?.notRetriedBecause, .deadlineExceeded)
    expectEqual(recorder.completionTime, .start)
  }

  @Test("a cancel during a wait that fits ends it, and leaves no timer")
  func cancelInWait() throws {
    let test = ClientUnderTest([.status(503)], repeatingLast: true, [Self.retrying(every: .seconds(2))])
    let recorder = test.send(Anything(deadline: .seconds(5)))
    test.scheduler.advance(by: 1)
    recorder.cancel()
    expectEqual(test.scheduler.pendingCount, 0)
    try test.scheduler.run()
    expectEqual(test.transport.count, 1)
    #expect(recorder.completion == nil)
  }

  @Test("an asynchronous call fails as early, with the same failure")
  func asynchronous() async throws {
    let client = WebAPIClient(
      baseURL: .service,
      transport: ScriptedTransport([.status(503)]),
      middleware: [Self.retrying(every: .seconds(5))],
      deliveringOn: nil
    )
    let failure = await #expect(throws: NetworkFailure.self) {
      try await client.value(of: Anything(deadline: .seconds(5)))
    }
    expectEqual(failure?.kind, .serverError(503))
    expectEqual(failure?.notRetriedBecause, .deadlineExceeded)
  }
}
