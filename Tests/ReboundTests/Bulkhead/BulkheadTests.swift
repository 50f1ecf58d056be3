import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@Suite("Bulkhead")
struct BulkheadTests {
  private func makeBulkhead(
    _ maxConcurrent: Int = 1,
    maxQueue: Int = 10,
    maxWait: Duration? = nil,
    order: BulkheadPolicy.Order = .fifo
  ) throws -> Bulkhead {
    let policy = try BulkheadPolicy(maxConcurrent: maxConcurrent, maxQueue: maxQueue, maxWait: maxWait, order: order)
    return Bulkhead("search", policy: policy)
  }

  @Test("gives each place once, and takes it back once")
  func permits() throws {
    let bulkhead = try makeBulkhead(2)
    let first = try bulkhead.acquire()
    let second = try bulkhead.acquire()
    #expect(throws: BulkheadFull(name: "search", limit: 2, queued: 0)) { try bulkhead.acquire() }
    first.release()
    first.release()
    expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 1, queued: 0, limit: 2))
    second.release(.failed(TestFailure.transient))
    expectEqual(bulkhead.snapshot.running, 0)
  }

  @Test("takes a place back that is forgotten")
  func forgotten() throws {
    let bulkhead = try makeBulkhead()
    _ = try bulkhead.acquire()
    expectEqual(bulkhead.snapshot.running, 0)
  }

  @Test("runs functions as places are free, and gives the place back however they end")
  func functions() async throws {
    let bulkhead = try makeBulkhead(maxQueue: 0)
    try await expectEqual(bulkhead.run { bulkhead.snapshot.running }, 1)
    await #expect(throws: TestFailure.transient) { try await bulkhead.run { throw TestFailure.transient } }
    await #expect(throws: CancellationError.self) { try await bulkhead.run { throw CancellationError() } }
    expectEqual(bulkhead.snapshot.running, 0)
    let held = try bulkhead.acquire()
    var ran = false
    await #expect(throws: BulkheadFull.self) { try await bulkhead.run { ran = true } }
    #expect(!ran)
    held.release()
  }

  @Test("counts those who run whichever way they came in, and whoever listens or looks meanwhile")
  func counting() async throws {
    let bulkhead = try makeBulkhead(3, maxQueue: 0)
    let events = EventLog<BulkheadEvent>()
    try await bulkhead.run {
      let held = try bulkhead.acquire()
      expectEqual(bulkhead.snapshot.running, 2)
      try await bulkhead.run {
        expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 3, queued: 0, limit: 3))
        await #expect(throws: BulkheadFull.self) { try await bulkhead.run {} }
        bulkhead.onEvent { events.write($0) }
      }
      expectEqual(bulkhead.snapshot.running, 2)
      held.release()
      expectEqual(bulkhead.snapshot.running, 1)
      try await bulkhead.run {}
    }
    expectEqual(bulkhead.snapshot.running, 0)
    expectEqual(
      events.events,
      [
        .released(running: 2), .released(running: 1),
        .admitted(running: 2, limit: 3), .released(running: 1), .released(running: 0),
      ]
    )
  }

  @Test("lets the one who waits in when a call ends that found a free place")
  func waitsForOneWithoutWait() throws {
    let bulkhead = try makeBulkhead(2)
    let upstream = TestPublisher<Int, any Error>()
    for _ in 0..<3 { upstream.limited(by: bulkhead).subscribe(Recorder()) }
    expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 2, queued: 1, limit: 2))
    upstream.connections[0].send(completion: .finished)
    expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 2, queued: 0, limit: 2))
    for connection in upstream.connections.dropFirst() { connection.send(completion: .finished) }
    expectEqual(bulkhead.snapshot.running, 0)
  }

  @Test("lets a function wait that comes too early, and refuses it after the longest wait")
  func functionWaits() async throws {
    let bulkhead = try makeBulkhead(maxWait: .seconds(5))
    let held = try bulkhead.acquire()
    await #expect(throws: BulkheadFull(name: "search", limit: 1, queued: 0, waited: .seconds(5))) {
      try await bulkhead.run(time: JumpingClock().time) { 1 }
    }
    held.release()
    expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 0, queued: 0, limit: 1))
  }

  @Test("stops to wait when the task is cancelled")
  func cancelledFunction() async throws {
    let bulkhead = try makeBulkhead()
    let held = try bulkhead.acquire()
    let waits = AsyncStream<Void>.makeStream()
    bulkhead.onEvent { if case .queued = $0 { waits.continuation.yield() } }
    let task = Task { try await bulkhead.run { 1 } }
    for await _ in waits.stream { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 1, queued: 0, limit: 1))
    held.release()
    expectEqual(bulkhead.snapshot.running, 0)
  }

  @Test("measures a call that has waited from its begin, and not the wait")
  func measuresCalls() throws {
    let scheduler = TestScheduler()
    let bulkhead = Bulkhead(
      "search",
      policy: try BulkheadPolicy(maxConcurrent: 1, maxQueue: 1),
      adapting: try .aimd(in: 1...10, slow: .seconds(5)),
      overloadedWhen: { _ in true }
    )
    let upstream = TestPublisher<Int, any Error>()
    for _ in 0..<2 { upstream.limited(by: bulkhead, time: scheduler.time).subscribe(Recorder()) }
    for limit in 2...3 {
      scheduler.advance(by: 3)
      upstream.send(completion: .finished)
      expectEqual(bulkhead.snapshot.limit, limit)
    }
  }

  @Test("learns from a call of which only the first value is taken")
  func learnsFromFirstValue() throws {
    let bulkhead = Bulkhead(
      "search",
      policy: try BulkheadPolicy(maxConcurrent: 1),
      adapting: try .aimd(in: 1...10),
      overloadedWhen: { _ in true }
    )
    let upstream = TestPublisher<Int, any Error>()
    upstream.limited(by: bulkhead).prefix(1).subscribe(Recorder())
    upstream.send(1)
    expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 0, queued: 0, limit: 2))
  }

  @Test("learns from a call before its place goes to the next one")
  func learnsFirst() throws {
    let bulkhead = Bulkhead(
      "search",
      policy: try BulkheadPolicy(maxConcurrent: 2, maxQueue: 9),
      adapting: try .aimd(in: 1...9, decrease: 0.5),
      overloadedWhen: { _ in true }
    )
    let log = EventLog<BulkheadEvent>()
    let upstream = TestPublisher<Int, any Error>()
    for _ in 0..<3 { upstream.limited(by: bulkhead).subscribe(Recorder()) }
    bulkhead.onEvent(log.write)
    upstream.connections[0].send(completion: .failure(TestFailure.transient))
    expectEqual(log.lines, ["released; 1 run", "limit is now 1"])
    expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 1, queued: 1, limit: 1))
  }

  @Test("stops the timer of a wait that ends with a place")
  func stopsTimer() throws {
    let time = StillTime()
    let bulkhead = try makeBulkhead(maxWait: .seconds(5))
    let upstream = TestPublisher<Int, any Error>()
    for _ in 0..<2 { upstream.limited(by: bulkhead, time: time.source).subscribe(Recorder()) }
    #expect(time.timers.count == 1 && time.cancels.count == 0)
    upstream.connections[0].send(completion: .finished)
    expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 1, queued: 0, limit: 1))
    expectEqual(time.cancels.count, 1)
  }

  @Test("never runs more than it may, and loses no place, on real threads", arguments: 0..<5 as Range<UInt64>)
  func race(seed: UInt64) throws {
    let bulkhead = try makeBulkhead(3, maxQueue: 20)
    let excess = EventLog<Int>()
    bulkhead.onEvent { if case .admitted(let running, let limit) = $0, running > limit { excess.write(running) } }
    let upstream = TestPublisher<Int, any Error>()
    let recorders = EventLog<Recorder<Int, any Error>>()
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      var numbers = SeededRandom(seed: seed * 4 + UInt64(thread))
      for _ in 0..<200 {
        let recorder = Recorder<Int, any Error>()
        upstream.limited(by: bulkhead).subscribe(recorder)
        recorders.write(recorder)
        let connections = upstream.connections
        switch Int.random(in: 0..<3, using: &numbers) {
        case 0: recorder.cancel()
        case 1: connections.randomElement(using: &numbers)?.send(completion: .finished)
        default: connections.randomElement(using: &numbers)?.send(completion: .failure(TestFailure.transient))
        }
        if bulkhead.snapshot.running > 3 { excess.write(bulkhead.snapshot.running) }
      }
    }
    for recorder in recorders.events { recorder.cancel() }
    #expect(excess.events.isEmpty)
    expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 0, queued: 0, limit: 3))
    #expect(recorders.events.allSatisfy { $0.completions.count <= 1 })
  }

  private final class Gauge: Sendable {
    private let running = Locked(0)
    private let highest = Locked(0)

    var peak: Int { highest.withLock { $0 } }

    func add(_ change: Int) {
      let now = running.withLock { running in
        running += change
        return running
      }
      highest.withLock { $0 = max($0, now) }
    }
  }

  @Test("never runs more functions than it may when nobody listens, and loses no place, on real threads")
  func raceOfFunctions() async throws {
    let bulkhead = try makeBulkhead(3, maxQueue: 20)
    let gauge = Gauge()
    let ran = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var ran = 0
          for number in 0..<500 {
            try await bulkhead.run {
              gauge.add(1)
              if number.isMultiple(of: 7) { await Task.yield() }
              gauge.add(-1)
            }
            if number.isMultiple(of: 50) { (try? bulkhead.acquire())?.release() }
            ran += 1
          }
          return ran
        }
      }
      return try await group.reduce(0, +)
    }
    expectEqual(ran, 2000)
    #expect(gauge.peak <= 3)
    expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 0, queued: 0, limit: 3))
  }

  // MARK: By deadline

  private final class Log: Sendable {
    private let lines = Locked<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  /// Runs calls that wait behind one of ten seconds, and says what became of them, in the order in which that was.
  private func byDeadline(_ deadlines: [Duration?], running length: Duration) throws -> [String] {
    let log = Log()
    try Simulation(seed: 1).run {
      let bulkhead = try makeBulkhead(order: .earliestDeadline)
      let first = Task { try await bulkhead.run { try await TimeSource.current.sleep(for: .seconds(10)) } }
      try await TimeSource.current.sleep(for: .seconds(1))
      let others = deadlines.enumerated().map { index, limit in
        Task {
          do {
            try await Deadline.$current.withValue(limit.map { Deadline(in: $0) }) {
              try await bulkhead.run {
                log.add("\(index)")
                try await TimeSource.current.sleep(for: length)
              }
            }
          } catch {
            log.add("\(index): \(error)")
          }
        }
      }
      try await first.value
      for other in others { await other.value }
      try requireEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 0, queued: 0, limit: 1))
    }
    return log.all
  }

  @Test("by deadline, whose deadline comes first is let in first, and last of all who has none")
  func earliestDeadline() throws {
    let order = try byDeadline(
      [nil, .seconds(600), .seconds(200), .seconds(400), nil, .seconds(200)],
      running: .seconds(1)
    )
    expectEqual(Set(order[0...1]), ["2", "5"])
    expectEqual(order[2...3], ["3", "1"])
    expectEqual(Set(order[4...5]), ["0", "4"])
  }

  @Test("by deadline, who comes too late when its turn has come is refused, and the next one gets the place")
  func tooLate() throws {
    let scheduler = TestScheduler()
    let time = scheduler.time
    let bulkhead = try makeBulkhead(order: .earliestDeadline)
    let permit = try bulkhead.acquire(on: time)
    let recorders = [5, 8, 30].map { limit in
      let recorder = Recorder<Int, any Error>()
      // Nobody ends the wait of a publisher but a timeout around it.
      Deadline.$current.withValue(Deadline(in: .seconds(limit), on: time)) {
        Just(limit).setFailureType(to: (any Error).self).limited(by: bulkhead, time: time).subscribe(recorder)
      }
      return recorder
    }
    scheduler.advance(by: 9)
    permit.release()
    expectEqual(recorders.map { $0.failure is BulkheadFull }, [true, true, false])
    expectEqual(recorders[2].values, [30])
  }

  @Test("by deadline, one that is measured by another time is as near as its time says", arguments: [0, 1_000])
  func deadlineOfAnotherTime(head: Int) throws {
    let (scheduler, other) = (TestScheduler(), TestScheduler())
    scheduler.advance(by: .seconds(head))
    other.advance(by: .seconds(1_000 - head))
    let time = scheduler.time
    let bulkhead = try makeBulkhead(order: .earliestDeadline)
    let permit = try bulkhead.acquire(on: time)
    let recorders = [5, 30].map { limit in
      let recorder = Recorder<Int, any Error>()
      Deadline.$current.withValue(Deadline(in: .seconds(limit), on: other.time)) {
        Just(limit).setFailureType(to: (any Error).self).limited(by: bulkhead, time: time).subscribe(recorder)
      }
      return recorder
    }
    scheduler.advance(by: 9)
    permit.release()
    #expect(recorders[0].failure is BulkheadFull)
    expectEqual(recorders[1].values, [30])
  }

  @Test(
    "a wait for a place ends with the time of who waits, in any order",
    arguments: [BulkheadPolicy.Order.fifo, .lifo, .earliestDeadline]
  )
  func deadlineOfWaits(order: BulkheadPolicy.Order) throws {
    try Simulation(seed: 1).run {
      let bulkhead = try makeBulkhead(order: order)
      let first = Task { try await bulkhead.run { try await TimeSource.current.sleep(for: .seconds(10)) } }
      try await TimeSource.current.sleep(for: .seconds(1))
      do {
        try await TimeoutPolicy.total(.seconds(2)).cooperative().run { try await bulkhead.run {} }
        try requireEqual("a place", "a timeout")
      } catch let error as TimedOut {
        try requireEqual(error, TimedOut(.total, limit: .seconds(2)))
      }
      try requireEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 1, queued: 0, limit: 1))
      try await first.value
    }
  }

  @Test("by deadline, who has less time left than calls take is refused when its turn has come")
  func tooLittleTimeLeft() throws {
    let order = try byDeadline([.seconds(15), .seconds(30)], running: .seconds(1))
    expectEqual(order.count, 2)
    #expect(order.contains { $0.hasPrefix("0: ") } && order.contains("1"), "\(order)")
  }

  @Test("by deadline, one that finds a free place is let in however long calls took before")
  func freePlaceByDeadline() throws {
    let order = try byDeadline([.seconds(15), .seconds(16)], running: .seconds(1))
    #expect(order.allSatisfy { $0.contains(": ") }, "\(order)")
    try Simulation(seed: 1).run {
      let bulkhead = try makeBulkhead(order: .earliestDeadline)
      try await bulkhead.run { try await TimeSource.current.sleep(for: .seconds(10)) }
      let answer = try await Deadline.$current.withValue(Deadline(in: .seconds(2))) {
        try await bulkhead.run { 1 }
      }
      try requireEqual(answer, 1)
    }
  }
}
