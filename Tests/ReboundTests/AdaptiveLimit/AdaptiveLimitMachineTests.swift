import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("AdaptiveLimitMachine")
struct AdaptiveLimitMachineTests {
  @Test("adds one after a good call that used the places, and takes a tenth after an overload")
  func aimd() throws {
    var machine = AdaptiveLimitMachine(try .aimd(in: 2...12, slow: .seconds(3)), initial: 10)
    let table: [(Duration, Int, Bool, Int)] = [
      (.seconds(1), 5, false, 11),
      // Fewer than half of the places were in use.
      (.seconds(1), 5, false, 11),
      (.seconds(1), 6, false, 12),
      (.seconds(1), 12, false, 12),
      (.seconds(1), 12, true, 10),
      (.seconds(3), 12, false, 9),
      (.seconds(1), 12, true, 8),
    ]
    for (duration, running, isOverload, limit) in table {
      machine.add(duration: duration, running: running, isOverload: isOverload)
      expectEqual(machine.limit, limit)
    }
    for _ in 0..<20 { machine.add(duration: .zero, running: 9, isOverload: true) }
    expectEqual(machine.limit, 2)
  }

  @Test("begins in its range")
  func initial() throws {
    expectEqual(AdaptiveLimitMachine(try .aimd(in: 2...12), initial: 1).limit, 2)
    expectEqual(AdaptiveLimitMachine(try .gradient(in: 2...12), initial: 99).limit, 12)
  }

  @Test("keeps within what can be counted, whatever its range")
  func widestRange() throws {
    var machine = AdaptiveLimitMachine(try .aimd(in: 1...Int.max), initial: .max)
    machine.add(duration: .seconds(1), running: .max, isOverload: false)
    expectEqual(machine.limit, 1_000_000_000)
    machine.add(duration: .seconds(1), running: .max, isOverload: true)
    expectEqual(machine.limit, 900_000_000)
    expectEqual(AdaptiveLimitMachine(try .gradient(in: Int.max...Int.max), initial: 1).limit, 1_000_000_000)
  }

  @Test("moves a share of the way to limit times gradient plus headroom")
  func gradient() throws {
    var machine = AdaptiveLimitMachine(
      try .gradient(in: 1...100, tolerance: 1.5, smoothing: 0.5, headroom: 4),
      initial: 20
    )
    // As quick as usual: 20 + 4, half of the way.
    machine.add(duration: .seconds(1), running: 20, isOverload: false)
    expectEqual(machine.limit, 22)
    // Idle: nothing is learned about more.
    machine.add(duration: .seconds(1), running: 3, isOverload: false)
    expectEqual(machine.limit, 22)
    // An overload halves, half of the way: 22 · 0.75.
    machine.add(duration: .seconds(1), running: 22, isOverload: true)
    expectEqual(machine.limit, 16)
    // Ten times slower than usual is no worse than half: (1 + 1 + 10) / 3 = 4 s usual, 1.5 · 4 / 10 = 0.6.
    machine.add(duration: .seconds(10), running: 16, isOverload: false)
    expectEqual(machine.limit, 15)
  }

  @Test("has what is usual follow the last some hundred calls, however many there were before")
  func memory() throws {
    var machine = AdaptiveLimitMachine(
      try .gradient(in: 1...1_000, tolerance: 1, smoothing: 1, headroom: 4),
      initial: 1_000
    )
    for _ in 0..<10_000 { machine.add(duration: .seconds(1), running: 1_000, isOverload: false) }
    machine.add(duration: .seconds(2), running: 1_000, isOverload: false)
    expectEqual(machine.limit, 505)
    // 2 − e⁻² = 1.86 s are usual then, and 4 / (1 − 1.86 / 2) = 59 what the limit settles at.
    for _ in 0..<600 { machine.add(duration: .seconds(2), running: 1_000, isOverload: false) }
    #expect((40...80).contains(machine.limit))
  }

  @Test("has what is usual come down faster after an overload than it went up")
  func relief() throws {
    var machine = AdaptiveLimitMachine(
      try .gradient(in: 1...100, tolerance: 1, smoothing: 1, headroom: 1),
      initial: 100
    )
    for _ in 0..<20 { machine.add(duration: .seconds(1), running: 100, isOverload: false) }
    for _ in 0..<200 { machine.add(duration: .seconds(10), running: 100, isOverload: false) }
    for _ in 0..<200 { machine.add(duration: .seconds(1), running: 100, isOverload: false) }
    expectEqual(machine.limit, 100)
    // At most 2 s are usual again, so 4 s halve the limit.
    machine.add(duration: .seconds(4), running: 100, isOverload: false)
    expectEqual(machine.limit, 51)
  }

  /// A server that bears so many calls at a time and makes the others wait, in virtual time.
  private final class Server: Publisher {
    typealias Output = Int
    typealias Failure = any Error

    let scheduler: TestScheduler
    var capacity: Int
    var busy = 0
    var mostBusy = 0

    init(_ scheduler: TestScheduler, capacity: Int) {
      self.scheduler = scheduler
      self.capacity = capacity
    }

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == any Error {
      busy += 1
      mostBusy = Swift.max(mostBusy, busy)
      // 100 ms, and in proportion longer for more calls than it bears.
      let load = Swift.max(1.0, Double(busy) / Double(capacity))
      let milliseconds = Int(100 * load)
      Just(1).setFailureType(to: (any Error).self)
        .delay(for: .milliseconds(milliseconds), scheduler: scheduler)
        .tryMap { value in
          self.busy -= 1
          if load >= 3 { throw TestFailure.transient }
          return value
        }
        .receive(subscriber: subscriber)
    }
  }

  @Test("finds what a server bears, and follows when that changes", arguments: [true, false])
  func simulation(usesGradient: Bool) throws {
    let scheduler = TestScheduler()
    let server = Server(scheduler, capacity: 20)
    let bulkhead = Bulkhead(
      "server",
      policy: try BulkheadPolicy(maxConcurrent: 4, maxQueue: 1_000),
      adapting: usesGradient ? try .gradient(in: 1...200) : try .aimd(in: 1...200, slow: .milliseconds(200)),
      overloadedWhen: { $0 as? TestFailure == .transient }
    )
    // Always more work than places.
    func run(seconds: Int) -> [Int] {
      (0..<seconds * 10).map { _ in
        while bulkhead.snapshot.queued < 100 {
          server.limited(by: bulkhead, time: scheduler.time).subscribe(Recorder())
        }
        scheduler.advance(by: .milliseconds(100))
        return bulkhead.snapshot.limit
      }
    }
    let settled = run(seconds: 20).suffix(100)
    let average = settled.reduce(0, +) / settled.count
    #expect((15...60).contains(average), "average \(average) for a server that bears 20")
    server.capacity = 80
    let grown = run(seconds: 20).suffix(50)
    let higher = grown.reduce(0, +) / grown.count
    #expect(higher > average, "average \(higher) after \(average), for a server that now bears 80")
  }

  @Test("learns nothing from calls that are cancelled, or fail for another reason")
  func dropped() throws {
    let scheduler = TestScheduler()
    let bulkhead = Bulkhead(
      "server",
      policy: try BulkheadPolicy(maxConcurrent: 10),
      adapting: try .aimd(),
      overloadedWhen: { $0 as? TestFailure == .transient }
    )
    let log = EventLog<BulkheadEvent>()
    bulkhead.onEvent(log.write)
    let permits = try (0..<8).map { _ in try bulkhead.acquire(on: scheduler.time) }
    permits[7].release(.cancelled)
    permits[6].release(.failed(TestFailure.permanent))
    expectEqual(bulkhead.snapshot.limit, 10)
    permits[5].release(.failed(TestFailure.transient))
    expectEqual(bulkhead.snapshot.limit, 9)
    permits[4].release(.succeeded)
    expectEqual(bulkhead.snapshot.limit, 10)
    expectEqual(log.lines.filter { $0.hasPrefix("limit") }, ["limit is now 9", "limit is now 10"])
  }
}
