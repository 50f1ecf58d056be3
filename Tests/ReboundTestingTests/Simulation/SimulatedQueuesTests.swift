import Combine
import Dispatch
import Expectations
import Foundation
import Rebound
import ReboundTesting
import StreamSupport
import Testing

/// What works on the system's queues through Combine is simulated without a word of its own.
@Suite struct SimulatedQueuesTests {
  private final class Log: Sendable {
    private let names = Locked<[String]>([])

    var all: [String] { names.withLock { $0 } }

    func add(_ name: String) { names.withLock { $0.append(name) } }
  }

  /// All orders in which things were done in 100 runs.
  private func orders(_ body: @escaping @Sendable (Log) async throws -> Void) throws -> Set<[String]> {
    let orders = Locked<Set<[String]>>([])
    try simulate(runs: 100) {
      let log = Log()
      try await body(log)
      try await ContinuousClock().sleep(for: .seconds(3_600))
      orders.withLock { _ = $0.insert(log.all) }
    }
    return orders.withLock { $0 }
  }

  @Test func operatorsOnQueuesTakeVirtualTime() throws {
    let report = try Simulation(seed: 1).run {
      func last<S: Scheduler>(_ scheduler: S) async -> Int? {
        var last: Int?
        for await value in Just(3).delay(for: .seconds(20), scheduler: scheduler).values { last = value }
        return last
      }
      try requireEqual(await last(DispatchQueue.main), 3)
      try requireEqual(await last(DispatchQueue.global()), 3)
      try requireEqual(await last(DispatchQueue(label: "own")), 3)
      try requireEqual(await last(RunLoop.main), 3)
      try requireEqual(await last(OperationQueue.main), 3)
      try requireEqual(await last(OperationQueue()), 3)
    }
    expectEqual(report.duration, .seconds(120))
  }

  @Test func aQueueDoesItsWorkInOrderAndTwoQueuesInAny() throws {
    let orders = try orders { log in
      for (name, queue) in [("a", DispatchQueue(label: "a")), ("b", DispatchQueue(label: "b"))] {
        for number in 1...2 { queue.schedule { log.add("\(name)\(number)") } }
      }
    }
    expectEqual(orders.count, 6)
    for order in orders { expectEqual(order.filter { $0.hasPrefix("a") }, ["a1", "a2"]) }
  }

  @Test func aGlobalQueueDoesItsWorkInAnyOrder() throws {
    let orders = try orders { log in
      for number in 1...3 { DispatchQueue.global().schedule { log.add("\(number)") } }
    }
    expectEqual(orders.count, 6)
  }

  @Test func workOfTheMainQueueIsTheMainActorsAndInOrder() throws {
    let orders = try orders { log in
      DispatchQueue.main.schedule { MainActor.assumeIsolated { log.add("queue") } }
      RunLoop.main.schedule { MainActor.assumeIsolated { log.add("run loop") } }
      OperationQueue.main.schedule { MainActor.assumeIsolated { log.add("operations") } }
      let main = DispatchQueue.main
      main.schedule(after: main.now.advanced(by: .seconds(5))) { log.add("later") }
    }
    expectEqual(orders, [["queue", "run loop", "operations", "later"]])
  }

  private enum Values { @TaskLocal static var mark = 0 }

  @Test func workOfAQueueSeesNoValuesOfTheTaskThatHappenedToBeTheFirst() throws {
    try Simulation(seed: 1).run {
      let marks = Locked<[Int]>([])
      let (main, own) = (DispatchQueue.main, DispatchQueue(label: "own"))
      Values.$mark.withValue(7) {
        main.schedule { marks.withLock { $0.append(Values.mark) } }
        own.schedule { marks.withLock { $0.append(Values.mark) } }
      }
      main.schedule { marks.withLock { $0.append(Values.mark) } }
      try await ContinuousClock().sleep(for: .seconds(1))
      try requireEqual(marks.withLock { $0 }, [0, 0, 0])
    }
  }

  @Test func workOfEachQueueSeesTheValuesOfTheCallerAndTheTimeOfTheRun() throws {
    try Values.$mark.withValue(7) {
      try Simulation(seed: 1).run {
        let seen = Locked<[String]>([])
        @Sendable func look() { seen.withLock { $0.append("\(Values.mark), \(TimeSource.current.now)") } }
        // The second work of the main queue is done by the loop that the first has begun.
        for _ in 1...2 {
          DispatchQueue.main.schedule(look)
          DispatchQueue(label: "own").schedule(look)
          DispatchQueue.global().schedule(look)
        }
        _ = TimeSource.system.after(.zero, look)
        try await ContinuousClock().sleep(for: .seconds(1))
        try requireEqual(seen.withLock { $0 }, Array(repeating: "7, 0.0 seconds", count: 7))
      }
    }
  }

  @Test func repetitionsEndWithTheirHandles() throws {
    let report = try Simulation(seed: 1).run {
      let ticks = Locked(0)
      let main = DispatchQueue.main
      let handle = main.schedule(after: main.now.advanced(by: .seconds(1)), interval: .seconds(2)) {
        ticks.withLock { $0 += 1 }
      }
      try await ContinuousClock().sleep(for: .seconds(10))
      handle.cancel()
      try await ContinuousClock().sleep(for: .seconds(10))
      try requireEqual(ticks.withLock { $0 }, 5)
    }
    expectEqual(report.duration, .seconds(20))
  }

  @Test func onOtherThreadsTheQueuesAreTheSystems() async throws {
    try Simulation(seed: 1).run {}
    let before = DispatchTime.now()
    #expect(DispatchQueue.main.now.dispatchTime >= before)
    await withCheckedContinuation { continuation in
      DispatchQueue.global().schedule { continuation.resume() }
    }
  }
}
