import Rebound
import ReboundOutbox
import ReboundTesting
import StreamSupport
import Testing

/// An outbox whose process ends, whose disk tears writes, and whose other side fails, under many schedules.
@Suite struct OutboxExplorationTests {
  /// The other side: it knows repetitions by their key.
  private actor Shop {
    private(set) var orders: [Int] = []
    private var keys: Set<String> = []

    func take(_ entry: OutboxEntry<Int>) {
      if keys.insert(entry.idempotencyKey).inserted { orders.append(entry.payload) }
    }
  }

  private static func outbox(on disk: SimulatedDisk, sendingTo shop: Shop) throws -> Outbox<Int> {
    let policy = try OutboxPolicy(maxAttempts: nil, timeToLive: nil, backoff: .constant(.seconds(2)))
    return Outbox("orders", policy: policy, storage: disk.outboxStorage(at: "/orders")) {
      entry in
      do {
        try await Exploration.work()
        await shop.take(entry)
        // The answer may be lost.
        try await Exploration.work()
        return .delivered
      } catch {
        return .tryLater(error)
      }
    }
    .onEvent { Simulation.note("\($0)") }
  }

  @Test(arguments: 0..<4) func nothingStoredIsLostOrOutOfOrderWhateverEndsTheProcess(quarter: Int) throws {
    try Exploration.explore(quarter: quarter) {
      let disk = SimulatedDisk(faultRate: 0.1)
      let shop = Shop()
      let stored = Locked<[Int]>([])
      for process in 0..<2 {
        let outbox = try Self.outbox(on: disk, sendingTo: shop)
        let writer = Task { @Sendable in
          for number in process * 3..<process * 3 + 3 {
            // What is refused is not promised.
            if (try? await outbox.enqueue(number, key: "shop")) != nil { stored.withLock { $0.append(number) } }
          }
        }
        try await TimeSource.current.sleep(for: .seconds(Int.random(in: 0...10)))
        disk.restart(losingPower: Bool.random())
        writer.cancel()
        await writer.value
      }
      disk.faultRate = 0
      let last = try Self.outbox(on: disk, sendingTo: shop)
      try await last.open()
      while last.state.pending > 0 { try await TimeSource.current.sleep(for: .seconds(60)) }
      await last.close()
      let orders = await shop.orders
      for number in stored.withLock({ $0 }) { try requireTrue(orders.contains(number), "\(number) is lost: \(orders)") }
      try requireEqual(orders, orders.sorted())
    }
  }

  /// Numbers are given in the order of the calls.
  private struct Numbers: SequentialModel {
    let initial: UInt64 = 0

    func next(_ last: UInt64, _ call: Int, _ answer: UInt64?) -> UInt64? {
      guard let answer else { return last }
      return answer > last ? answer : nil
    }
  }

  @Test func entriesAreNumberedAsIfTheyWereStoredOneAfterTheOther() throws {
    try Exploration.explore {
      let outbox = try Self.outbox(on: SimulatedDisk(), sendingTo: Shop())
      let history = ConcurrentHistory<Int, UInt64>()
      _ = try await Exploration.crowd(5) { number in
        try await history.record(number) { try await outbox.enqueue(number, key: "\(number % 2)").id.number }
      }
      try requireLinearizable(history, as: Numbers())
      await outbox.close()
    }
  }

  private enum Command: Sendable { case enqueue(Int), cancel(Int), delivered(Int) }
  private enum Answer: Hashable, Sendable { case stored, gone(OutboxCancellation), arrived }
  private enum Stage: Hashable { case waiting, maybeSent, gone }

  /// What is taken back before it was sent never arrives, and is there to be taken back once.
  private struct TakeBacks: SequentialModel {
    let initial: [Int: Stage] = [:]

    func part(of command: Command) -> AnyHashable {
      switch command {
      case .enqueue(let number), .cancel(let number), .delivered(let number): number
      }
    }

    func next(_ stages: [Int: Stage], _ command: Command, _ answer: Answer?) -> [Int: Stage]? {
      var stages = stages
      switch (command, answer) {
      case (.enqueue(let number), _): stages[number] = .waiting
      case (.delivered(let number), _):
        guard stages[number] != .gone else { return nil }
        stages[number] = .maybeSent
      case (.cancel(let number), .gone(.cancelled)):
        guard stages[number] == .waiting else { return nil }
        stages[number] = .gone
      case (.cancel, _): break
      }
      return stages
    }
  }

  @Test func whatIsTakenBackInTimeNeverArrives() throws {
    try Exploration.explore {
      let history = ConcurrentHistory<Command, Answer>()
      let policy = try OutboxPolicy(maxAttempts: nil, timeToLive: nil, backoff: .constant(.seconds(2)))
      let outbox = Outbox<Int>(
        "orders",
        policy: policy,
        storage: SimulatedDisk().outboxStorage(at: "/orders")
      ) { entry in
        history.recordAtOnce(.delivered(entry.payload)) { .arrived }
        do {
          try await Exploration.work()
          return .delivered
        } catch {
          return .tryLater(error)
        }
      }
      _ = try await Exploration.crowd(4) { number in
        let entry = try await outbox.enqueue(number, key: "\(number % 2)")
        history.recordAtOnce(.enqueue(number)) { .stored }
        try await TimeSource.current.sleep(for: .seconds(Int.random(in: 0...4)))
        let answers = try await withThrowingTaskGroup(of: OutboxCancellation.self) { group in
          for _ in 0..<2 {
            group.addTask {
              let answer = try await history.record(.cancel(number)) { Answer.gone(try await outbox.cancel(entry.id)) }
              guard case .gone(let cancellation) = answer else { return .notThere }
              return cancellation
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        try requireTrue(answers.count { $0 != .notThere } <= 1, "\(answers)")
      }
      try await TimeSource.current.sleep(for: .seconds(60))
      await outbox.close()
      try requireLinearizable(history, as: TakeBacks())
    }
  }
}
