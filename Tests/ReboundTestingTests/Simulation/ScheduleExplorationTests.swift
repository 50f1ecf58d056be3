import Expectations
import Foundation
import ReboundTesting
import StreamSupport
import Testing

@Suite struct ScheduleExplorationTests {
  /// Two tasks that read and then write.
  @Sendable private static func lostUpdate() async throws {
    actor Counter {
      var value = 0
      func set(_ value: Int) { self.value = value }
    }
    let counter = Counter()
    let tasks = (0..<2).map { _ in
      Task {
        let value = await counter.value
        await counter.set(value + 1)
      }
    }
    for task in tasks { await task.value }
    try requireEqual(await counter.value, 2)
  }

  @Test func aLostUpdateIsFoundAndReplayed() throws {
    let failure = try #require(
      #expect(throws: SimulationFailure.self) { try simulate(runs: 200, Self.lostUpdate) }
    )
    #expect(failure.isReplayable)
    #expect(failure.schedule.switches.count <= failure.switchesAtFirst)
    let again = try #require(
      #expect(throws: SimulationFailure.self) {
        try Simulation(seed: failure.seed, schedule: failure.schedule).run(Self.lostUpdate)
      }
    )
    expectEqual(again.schedule, failure.schedule)
    expectEqual(again.diagram.description, failure.diagram.description)
  }

  @Test func aReplayAsAFailureSaysItIsTheSameRun() throws {
    let failure = try #require(
      #expect(throws: SimulationFailure.self) { try simulate(runs: 200, seed: 40, Self.lostUpdate) }
    )
    let again = try #require(
      #expect(throws: SimulationFailure.self) { try simulate(replay: failure.replay, Self.lostUpdate) }
    )
    expectEqual(again.diagram.description, failure.diagram.description)
    expectEqual(again.replay, failure.replay)
  }

  @Test(arguments: [ScheduleExploration.mixed, .exhaustive], [-1, 0])
  func thereIsOneRunAtLeast(exploration: ScheduleExploration, runs: Int) throws {
    let seen = Orders()
    let explored = try simulate(runs: runs, exploration: exploration) {
      await Desk().add(0, to: Orders.One(seen))
      await Task.yield()
    }
    expectEqual(explored.runs, 1)
    expectEqual(seen.all, [[0]])
  }

  @Test(arguments: ["", "x", "1/2", "1/2:", "1/a:b", "1/-2:1", "1/3:1,3:2,7:1"])
  func aReplayThatIsNoneIsRefused(text: String) {
    let refusal = #expect(throws: InvalidReplay.self) { try simulate(replay: text, Self.lostUpdate) }
    expectEqual(refusal?.text, text)
  }

  @Test func theDiagramSaysWhoRanWhenAndWhatWasNoted() throws {
    let report = try Simulation(seed: 1, schedule: Schedule("")).run {
      Simulation.note("begins")
      try await ContinuousClock().sleep(for: .seconds(2))
      Simulation.note("ends")
    }
    let lines = report.diagram.description.split(separator: "\n").map(String.init)
    expectEqual(lines.count, 4)
    #expect(lines[0].allSatisfy { "task 1█ ".contains($0) })
    #expect(lines[1].hasSuffix("task 1: begins"))
    #expect(lines[2].hasSuffix("the time is 2.0 seconds"))
    #expect(lines[3].hasSuffix("task 1: ends"))
  }

  // What is counted by hand: a task has two steps, its start and its hop to the executor, where its code begins; a yield with
  // code behind it is three more: into the function, out of it, and back to the code. That it comes back by a job of its own is
  // no choice. The body itself has one step left when it has made its tasks. None of them waits for another.

  @Test func twoTasksHaveThirtySchedulesInWhichTheyRunInTwoOrders() throws {
    let seen = Orders()
    let explored = try simulate(exploration: .exhaustive) {
      let order = Orders.One(seen)
      for number in 0..<2 { Task { order.add(number) } }
    }
    // 5! / (2! · 2! · 1!)
    expectEqual(explored.runs, 30)
    #expect(explored.isComplete)
    expectEqual(seen.all, [[0, 1], [1, 0]])
  }

  @Test func threeTasksHaveSixHundredAndThirtySchedulesInWhichTheyRunInSixOrders() throws {
    let seen = Orders()
    let explored = try simulate(exploration: .exhaustive) {
      let order = Orders.One(seen)
      for number in 0..<3 { Task { order.add(number) } }
    }
    // 7! / (2! · 2! · 2! · 1!)
    expectEqual(explored.runs, 630)
    #expect(explored.isComplete)
    expectEqual(seen.all.count, 6)
  }

  @Test func aTaskThatYieldsBesideAnotherHasAHundredAndSixtyEightSchedulesInWhichTheyInterleaveInThreeWays() throws {
    let seen = Orders()
    let explored = try simulate(exploration: .exhaustive) {
      let order = Orders.One(seen)
      Task {
        order.add(0)
        await Task.yield()
        order.add(0)
      }
      Task { order.add(1) }
    }
    // 8! / (5! · 2! · 1!); without the reduction, 9! / (6! · 2! · 1!) would be 252
    expectEqual(explored.runs, 168)
    #expect(explored.isComplete)
    expectEqual(seen.all, [[0, 0, 1], [0, 1, 0], [1, 0, 0]])
  }

  /// The orders in which a program adds its numbers, under so many schedules.
  private func orders(
    runs: Int = 20_000,
    exploration: ScheduleExploration = .exhaustive,
    _ program: @escaping @Sendable (Orders.One) async -> Void
  ) throws -> Set<[Int]> {
    let seen = Orders()
    let explored = try simulate(runs: runs, exploration: exploration) { await program(Orders.One(seen)) }
    expectEqual(explored.isComplete, exploration == .exhaustive)
    return seen.all
  }

  private actor Desk {
    func add(_ number: Int, to order: Orders.One) { order.add(number) }
  }

  @Test func othersRunBetweenACallOfAnActorAndTheNextLineWhateverBeganTheTask() throws {
    let call = { @Sendable (order: Orders.One) async in
      await Desk().add(0, to: order)
      order.add(1)
    }
    let expected: Set = [[0, 1, 2], [0, 2, 1], [2, 0, 1]]
    let ofChildren = try orders { order in
      async let first: Void = call(order)
      async let second: Void = order.add(2)
      _ = await (first, second)
    }
    expectEqual(ofChildren, expected)
    let ofUnstructured = try orders { order in
      Task { await call(order) }
      Task { order.add(2) }
    }
    expectEqual(ofUnstructured, expected)
    let ofDetached = try orders { order in
      Task.detached { await call(order) }
      Task.detached { order.add(2) }
    }
    expectEqual(ofDetached, expected)
  }

  @Test func othersRunBetweenTwoCallsOfAnActor() throws {
    let seen = try orders { order in
      let desk = Desk()
      Task {
        await desk.add(0, to: order)
        // With nothing in between, the compiler would have the task stay on the actor.
        guard !Task.isCancelled else { return }
        await desk.add(1, to: order)
      }
      Task { order.add(2) }
    }
    expectEqual(seen, [[0, 1, 2], [0, 2, 1], [2, 0, 1]])
  }

  @Test func twoTasksThatCallTwoActorsInterleaveInSixWays() throws {
    // There are some ten thousand schedules.
    let seen = try orders(runs: 500, exploration: .randomWalk) { order in
      let (left, right) = (Desk(), Desk())
      Task {
        await left.add(0, to: order)
        guard !Task.isCancelled else { return }
        await right.add(1, to: order)
      }
      Task {
        await right.add(2, to: order)
        guard !Task.isCancelled else { return }
        await left.add(3, to: order)
      }
    }
    expectEqual(seen, [[0, 1, 2, 3], [0, 2, 1, 3], [0, 2, 3, 1], [2, 0, 1, 3], [2, 0, 3, 1], [2, 3, 0, 1]])
  }

  @Test func allSchedulesOfALostUpdateFindIt() {
    let failure = #expect(throws: SimulationFailure.self) {
      try simulate(exploration: .exhaustive, Self.lostUpdate)
    }
    #expect(failure?.cause is PropertyMismatch)
  }

  @Test func aBudgetThatEndsFirstIsNotComplete() throws {
    let explored = try simulate(runs: 10, exploration: .exhaustive) {
      for _ in 0..<3 { Task { await Task.yield() } }
    }
    expectEqual(explored.runs, 10)
    #expect(!explored.isComplete)
  }

  @Test(arguments: [ScheduleExploration.mixed, .exhaustive])
  func noRunBeginsAfterTheBudgetInSecondsExceptForTheFirst(exploration: ScheduleExploration) throws {
    let spent = try simulate(runs: 10, budget: .zero, exploration: exploration) {
      for _ in 0..<3 { Task { await Task.yield() } }
    }
    expectEqual(spent.runs, 1)
    #expect(!spent.isComplete)
    let ample = try simulate(runs: 10, budget: .seconds(86_400), exploration: exploration) {
      for _ in 0..<3 { Task { await Task.yield() } }
    }
    expectEqual(ample.runs, 10)
  }

  @Test(arguments: [ScheduleExploration.randomWalk, .priorities(depth: 3), .mixed])
  func theSameSeedIsTheSameRun(exploration: ScheduleExploration) throws {
    func order() throws -> String? {
      let failure = #expect(throws: SimulationFailure.self) {
        try simulate(runs: 500, seed: 5, exploration: exploration, Self.lostUpdate)
      }
      return failure.map { "\($0.replay)\n\($0.diagram)" }
    }
    try expectEqual(order(), order())
  }

  @Test func aTaskThatPollsStarvesNobodyUnderPriorities() throws {
    try simulate(runs: 100, exploration: .priorities(depth: 2), limits: SimulationLimits(stepsAtOneMoment: 5_000)) {
      actor Flag {
        var isSet = false
        func set() { isSet = true }
      }
      let flag = Flag()
      Task { await flag.set() }
      while !(await flag.isSet) { await Task.yield() }
    }
  }

  @Test func anActorStaysTheSameWhereverTheRunTimeLibraryPutsItsWork() throws {
    // As large as what is made for each time that an actor has work: its memory is taken, as by other threads.
    final class Block {
      let words = (0, 0, 0, 0, 0, 0, 0, 0)
    }
    actor Keeper {
      var blocks: [Block] = []
      func keep() { blocks.append(Block()) }
    }
    let keeper = Keeper()
    let report = try Simulation(seed: 1).run {
      let other = Task { for _ in 0..<20 { await keeper.keep() } }
      for _ in 0..<20 {
        await keeper.keep()
        await Task.yield()
      }
      await other.value
    }
    let actors = report.diagram.description.split(separator: "\n").filter { $0.hasPrefix("actor") }
    #expect(actors.count <= 1)
  }

  @Test func anActorThatIsGoneLeavesItsPlaceToNoOther() throws {
    actor Passer {
      let hasGone: @Sendable () -> Void
      init(_ hasGone: @escaping @Sendable () -> Void) { self.hasGone = hasGone }
      func pass() {}
      deinit { hasGone() }
    }
    let report = try Simulation(seed: 1).run {
      let gone = Locked(0)
      for number in 0..<8 {
        await Passer { gone.withLock { $0 += 1 } }.pass()
        try requireEqual(gone.withLock { $0 }, number + 1)
      }
    }
    let actors = report.diagram.description.split(separator: "\n").filter { $0.hasPrefix("actor") }
    expectEqual(actors.count, 8)
  }

  @Test func simulationsRunBesideEachOtherAndBesideTasksOfNone() async throws {
    @Sendable func program() async throws {
      for _ in 0..<50 {
        async let first: Void = ContinuousClock().sleep(for: .seconds(10))
        async let second = Task.detached { try await ContinuousClock().sleep(for: .seconds(5)) }.value
        _ = try await (first, second)
      }
    }
    let expected = try Simulation(seed: 1).run(program)
    try await withThrowingTaskGroup(of: SimulationReport?.self) { group in
      for number in 0..<16 {
        group.addTask {
          guard number % 2 == 0 else {
            for _ in 0..<1_000 { await Task.detached { await Task.yield() }.value }
            return nil
          }
          return try Simulation(seed: 1).run(program)
        }
      }
      for try await case let report? in group {
        expectEqual(report.duration, .seconds(500))
        expectEqual(report.diagram.description, expected.diagram.description)
      }
    }
  }
}

/// The different orders that were seen.
private final class Orders: Sendable {
  final class One: Sendable {
    private let orders: Orders
    private let numbers = Locked<[Int]>([])

    init(_ orders: Orders) { self.orders = orders }

    func add(_ number: Int) { numbers.withLock { $0.append(number) } }

    deinit {
      let numbers = numbers.withLock { $0 }
      orders.seen.withLock { _ = $0.insert(numbers) }
    }
  }

  private let seen = Locked<Set<[Int]>>([])

  var all: Set<[Int]> { seen.withLock { $0 } }
}
