import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Coalescer")
struct CoalescerTests {
  private let coalescer = Coalescer<String, Int, any Error>()
  private let upstream = TestPublisher<Int, any Error>()

  @Test("tells what it decides, one line each")
  func events() {
    let log = EventLog<CoalescingEvent<String>>()
    coalescer.onEvent(log.write)
    let recorders = [Recorder<Int, any Error>(), Recorder<Int, any Error>()]
    for recorder in recorders { upstream.coalesced(by: coalescer, for: "oslo").subscribe(recorder) }
    upstream.send(completion: .finished)
    expectEqual(log.lines, ["oslo: started", "oslo: joined what is in flight; 2 share it", "oslo: ended"])
  }

  @Test("has nothing in flight after an end, a failure too, and tells the end once", arguments: [true, false])
  func ends(fails: Bool) {
    let log = EventLog<CoalescingEvent<String>>()
    coalescer.onEvent(log.write)
    upstream.coalesced(by: coalescer, for: "oslo").subscribe(Recorder())
    expectEqual(coalescer.inFlightCount, 1)
    upstream.send(completion: fails ? .failure(TestFailure.transient) : .finished)
    expectEqual(coalescer.inFlightCount, 0)
    expectEqual(log.lines, ["oslo: started", "oslo: ended"])
  }

  @Test("runs a function once for all who want it at the same time, publishers among them")
  func functions() async throws {
    let calls = EventLog<Void>()
    let gate = AsyncStream<Void>.makeStream()
    let coalescer = coalescer
    let joined = AsyncStream<Int>.makeStream()
    let ended = AsyncStream<Void>.makeStream()
    coalescer.onEvent { event in
      switch event {
      case .joined(_, let count): joined.continuation.yield(count)
      case .ended: ended.continuation.yield()
      default: break
      }
    }
    let tasks = (0..<10).map { _ in
      Task {
        try await coalescer.run("oslo") {
          calls.write(())
          for await _ in gate.stream { break }
          return 7
        }
      }
    }
    for await count in joined.stream where count == 10 { break }
    let recorder = Recorder<Int, any Error>()
    upstream.coalesced(by: coalescer, for: "oslo").subscribe(recorder)
    gate.continuation.yield()
    for task in tasks { try await expectEqual(task.value, 7) }
    // Those who wait have the value a moment before the call has ended.
    for await _ in ended.stream { break }
    expectEqual(calls.count, 1)
    expectEqual(recorder.values, [7])
    expectEqual(upstream.subscriptionCount, 0)
    expectEqual(coalescer.inFlightCount, 0)
  }

  @Test("throws what the function throws, and keeps nothing of it")
  func throwing() async throws {
    await #expect(throws: TestFailure.transient) { try await coalescer.run("oslo") { throw TestFailure.transient } }
    try await expectEqual(coalescer.run("oslo") { 8 }, 8)
  }

  @Test("cancels the function when all who wait for it are cancelled")
  func cancel() async throws {
    let coalescer = coalescer
    let started = AsyncStream<Void>.makeStream()
    let ended = AsyncStream<Bool>.makeStream()
    let joined = AsyncStream<Void>.makeStream()
    coalescer.onEvent { if case .joined = $0 { joined.continuation.yield() } }
    let tasks = (0..<2).map { _ in
      Task {
        try await coalescer.run("oslo") {
          started.continuation.yield()
          let (never, continuation) = AsyncStream<Void>.makeStream()
          await withTaskCancellationHandler {
            for await _ in never {}
          } onCancel: {
            continuation.finish()
          }
          ended.continuation.yield(Task.isCancelled)
          return 1
        }
      }
    }
    for await _ in started.stream { break }
    for await _ in joined.stream { break }
    tasks[0].cancel()
    await #expect(throws: CancellationError.self) { try await tasks[0].value }
    expectEqual(coalescer.inFlightCount, 1)
    tasks[1].cancel()
    await #expect(throws: CancellationError.self) { try await tasks[1].value }
    for await isCancelled in ended.stream {
      #expect(isCancelled)
      break
    }
    expectEqual(coalescer.inFlightCount, 0)
  }

  @Test("lets each function that waits go when its own time is over, and runs what they wait for under no deadline")
  func deadlines() throws {
    try Simulation(seed: 1).run { [coalescer] in
      let start = TimeSource.current.now
      let hurried = Task {
        try await TimeoutPolicy.total(.seconds(2)).cooperative().run {
          try await coalescer.run("oslo") {
            try requireEqual(Deadline.current == nil, true)
            try await TimeSource.current.sleep(for: .seconds(5))
            return 7
          }
        }
      }
      try await TimeSource.current.sleep(for: .seconds(1))
      let patient = Task { try await coalescer.run("oslo") { 8 } }
      let error = await hurried.result.failure as? TimedOut
      try requireEqual(error, TimedOut(.total, limit: .seconds(2)))
      try requireEqual(TimeSource.current.now - start, .seconds(2))
      let value = try await patient.value
      try requireEqual(value, 7)
      try requireEqual(TimeSource.current.now - start, .seconds(5))
    }
  }

  @Test("ends what nobody has any time for any more")
  func deadlineOfTheLast() throws {
    try Simulation(seed: 1).run { [coalescer] in
      let cancels = EventLog<String>()
      let call = Task {
        try await Deadline.$current.withValue(Deadline(in: .seconds(2))) {
          try await coalescer.run("oslo") {
            do { try await TimeSource.current.sleep(for: .seconds(5)) } catch {
              cancels.write("cancelled")
              throw error
            }
            return 7
          }
        }
      }
      let error = await call.result.failure as? TimedOut
      try requireEqual(error, TimedOut(.total, limit: .seconds(2)))
      try await TimeSource.current.sleep(for: .seconds(1))
      try requireEqual(cancels.events, ["cancelled"])
      try requireEqual(coalescer.inFlightCount, 0)
    }
  }

  @Test("runs a publisher under no deadline, whoever has asked for it first, also if it begins with a later request")
  func deadlineOfPublishers() {
    let seen = EventLog<Bool>()
    let call = Deferred { () -> Just<Int> in
      seen.write(Deadline.current == nil)
      return Just(1)
    }
    .setFailureType(to: (any Error).self)
    .handleEvents(receiveRequest: { _ in seen.write(Deadline.current == nil) })
    let recorder = Recorder<Int, any Error>(requesting: .none)
    Deadline.$current.withValue(Deadline(in: .seconds(1))) {
      call.coalesced(by: coalescer, for: "oslo").subscribe(recorder)
      recorder.request(.max(1))
    }
    expectEqual(seen.events, [true, true])
    expectEqual(recorder.values, [1])
  }

  @Test("says so when a publisher that a function has joined finishes without a value")
  func noValue() async throws {
    upstream.coalesced(by: coalescer, for: "oslo").subscribe(Recorder())
    let (coalescer, upstream) = (coalescer, upstream)
    coalescer.onEvent { if case .joined = $0 { DispatchQueue.global().async { upstream.send(completion: .finished) } } }
    await #expect(throws: FinishedWithoutValue.self) { try await coalescer.run("oslo") { 1 } }
    #expect("\(FinishedWithoutValue())".contains("without a value"))
  }

  @Test(
    "gives a function that joins a publisher the first value, which may have come before it, and lets it go with that",
    arguments: [true, false]
  )
  func valueOfPublisher(isLate: Bool) async throws {
    let recorder = Recorder<Int, any Error>()
    upstream.coalesced(by: coalescer, for: "oslo").subscribe(recorder)
    let (coalescer, upstream) = (coalescer, upstream)
    if isLate {
      upstream.send(1)
      upstream.send(2)
    } else {
      coalescer.onEvent { if case .joined = $0 { DispatchQueue.global().async { upstream.send(1) } } }
    }
    try await expectEqual(coalescer.run("oslo") { 8 }, 1)
    expectEqual(upstream.cancelCount, 0)
    recorder.cancel()
    expectEqual(upstream.cancelCount, 1)
    expectEqual(coalescer.inFlightCount, 0)
  }

  @Test("requests the value that a function waits for of a publisher that nobody has requested anything of")
  func demandOfFunction() async throws {
    Just(1).setFailureType(to: (any Error).self).coalesced(by: coalescer, for: "oslo")
      .subscribe(Recorder(requesting: .none))
    try await expectEqual(coalescer.run("oslo") { 8 }, 1)
  }

  @Test("starts afresh for who subscribes again from inside the value of a function")
  func again() async throws {
    let coalescer = coalescer
    let (started, gate) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
    let task = Task {
      try await coalescer.run("oslo") {
        started.continuation.yield()
        for await _ in gate.stream { break }
        return 7
      }
    }
    for await _ in started.stream { break }
    let ended = AsyncStream<Void>.makeStream()
    let recorder = Recorder<Int, any Error>()
    let shared = Just(8).setFailureType(to: (any Error).self).coalesced(by: coalescer, for: "oslo")
    shared.flatMap { _ in shared }
      .handleEvents(receiveCompletion: { _ in ended.continuation.yield() })
      .subscribe(recorder)
    gate.continuation.yield()
    try await expectEqual(task.value, 7)
    for await _ in ended.stream { break }
    expectEqual(recorder.values, [8])
  }

  @Test("counts as many starts as ends, whoever comes and goes at the same time")
  func race() async {
    let (told, log) = AsyncStream<CoalescingEvent<String>>.makeStream()
    coalescer.onEvent { log.yield($0) }
    let (coalescer, upstream) = (coalescer, upstream)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<200 {
        let recorder = Recorder<Int, any Error>()
        upstream.coalesced(by: coalescer, for: "oslo").subscribe(recorder)
        recorder.cancel()
      }
    }
    // A thread that tells the events of the others, too, leaves the rest to one of the system's after a while. This comes behind
    // them.
    let last = Recorder<Int, any Error>()
    Just(8).setFailureType(to: (any Error).self).coalesced(by: coalescer, for: "bergen").subscribe(last)
    var (starts, ends) = (0, 0)
    reading: for await event in told {
      switch event {
      case .started("bergen"): break reading
      case .started: starts += 1
      case .ended: ends += 1
      case .joined: break
      }
    }
    expectEqual(starts, ends)
    expectEqual(starts, upstream.subscriptionCount)
    expectEqual(upstream.cancelCount, upstream.subscriptionCount)
    expectEqual(coalescer.inFlightCount, 0)
  }
}

extension Result {
  /// What it has failed with.
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
