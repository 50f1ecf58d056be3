import Expectations
import Rebound
import ReboundTesting
import Testing

/// Small programs with one race each: every one is found, replayed and made simple.
@Suite struct PlantedRaceTests {
  @Test(arguments: PlantedRace.all + PlantedRace.ofServices)
  func aPlantedRaceIsFoundReplayedAndMadeSimple(race: PlantedRace) throws {
    let failure = try #require(
      #expect(throws: SimulationFailure.self) { try simulate(runs: 2_000, race.program) }
    )
    #expect(failure.cause is PropertyMismatch, "\(failure)")
    #expect(failure.isReplayable)
    #expect(failure.schedule.switches.count <= 12, "\(failure)")
    for _ in 0..<100 {
      let again = try #require(
        #expect(throws: SimulationFailure.self) {
          try Simulation(seed: failure.seed, schedule: failure.schedule).run(race.program)
        }
      )
      expectEqual(again.diagram.description, failure.diagram.description)
      expectEqual(again.replay, failure.replay)
    }
  }

  @Test func aProgramWithoutARaceNeverFails() throws {
    try simulate(runs: 500) {
      actor Account {
        var balance = 100
        func withdraw(_ amount: Int) -> Bool {
          guard balance >= amount else { return false }
          balance -= amount
          return true
        }
      }
      let account = Account()
      async let first = account.withdraw(80)
      async let second = Task.detached { await account.withdraw(80) }.value
      let given = await [first, second].count { $0 }
      try requireEqual(given, 1)
      try requireEqual(await account.balance, 20)
    }
  }
}

struct PlantedRace: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let program: @Sendable () async throws -> Void

  init(_ name: String, _ program: @escaping @Sendable () async throws -> Void) {
    testDescription = name
    self.program = program
  }

  static let all = [
    lostUpdate, doubleRefresh, lateAnswerWins, cancelBetweenGrantAndUse, timerAgainstResult, effectAfterCancel,
    reentrantWithdrawal, reorderedOutbox, checkThenAct, mainActorOverwrite,
  ]

  static let lostUpdate = PlantedRace("lost update across an await") {
    actor Counter {
      var value = 0
      func set(_ value: Int) { self.value = value }
    }
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          let value = await counter.value
          await counter.set(value + 1)
        }
      }
    }
    try requireEqual(await counter.value, 3)
  }

  static let doubleRefresh = PlantedRace("double refresh of a token") {
    actor Session {
      var token: Int?
      var refreshes = 0
      func validToken() async -> Int {
        if let token { return token }
        refreshes += 1
        await Task.yield()
        token = refreshes
        return refreshes
      }
    }
    let session = Session()
    async let first = session.validToken()
    async let second = session.validToken()
    _ = await (first, second)
    try requireEqual(await session.refreshes, 1)
  }

  static let lateAnswerWins = PlantedRace("late answer wins") {
    actor Search {
      var shown = ""
      func show(_ text: String) { shown = text }
    }
    let search = Search()
    let answers = ["s", "sw", "swift"].map { text in
      Task {
        await Task.yield()
        await search.show(text)
      }
    }
    for answer in answers { await answer.value }
    try requireEqual(await search.shown, "swift")
  }

  static let cancelBetweenGrantAndUse = PlantedRace("cancel between grant and use") {
    actor Seats {
      var free = 1
      func take() -> Bool {
        guard free > 0 else { return false }
        free -= 1
        return true
      }
      func giveBack() { free += 1 }
    }
    let seats = Seats()
    let guest = Task {
      guard await seats.take(), !Task.isCancelled else { return }
      await Task.yield()
      await seats.giveBack()
    }
    await Task.yield()
    guest.cancel()
    await guest.value
    try requireEqual(await seats.free, 1)
  }

  static let timerAgainstResult = PlantedRace("timer against result") {
    actor Answer {
      var texts: [String] = []
      func give(_ text: String) { texts.append(text) }
    }
    let answer = Answer()
    async let result: Void = {
      try await TimeSource.current.sleep(for: .seconds(5))
      if await answer.texts.isEmpty { await answer.give("result") }
    }()
    async let timeout: Void = {
      try await TimeSource.current.sleep(for: .seconds(5))
      if await answer.texts.isEmpty { await answer.give("timeout") }
    }()
    _ = try await (result, timeout)
    try requireEqual(await answer.texts.count, 1)
  }

  static let effectAfterCancel = PlantedRace("effect after cancel") {
    actor Store {
      var isOpen = true
      var lateActions = 0
      func receive() { if !isOpen { lateActions += 1 } }
      func close() { isOpen = false }
    }
    let store = Store()
    let effect = Task {
      try await ContinuousClock().sleep(for: .seconds(1))
      await store.receive()
    }
    try await ContinuousClock().sleep(for: .seconds(1))
    effect.cancel()
    await store.close()
    _ = await effect.result
    try requireEqual(await store.lateActions, 0)
  }

  static let reentrantWithdrawal = PlantedRace("actor re-entrancy") {
    actor Account {
      var balance = 100
      func withdraw(_ amount: Int) async {
        guard balance >= amount else { return }
        await Task.yield()
        balance -= amount
      }
    }
    let account = Account()
    async let first: Void = account.withdraw(80)
    async let second: Void = account.withdraw(80)
    _ = await (first, second)
    let balance = await account.balance
    try requireTrue(balance >= 0, "the balance is \(balance)")
  }

  static let reorderedOutbox = PlantedRace("reordered outbox") {
    actor Server {
      var received: [Int] = []
      func receive(_ number: Int) { received.append(number) }
    }
    let server = Server()
    let sends = (0..<3).map { number in Task.detached { await server.receive(number) } }
    for send in sends { await send.value }
    try requireEqual(await server.received, [0, 1, 2])
  }

  static let checkThenAct = PlantedRace("check, then act, on two actors") {
    actor Shelf {
      var books: Set<String> = []
      var bought = 0
      func has(_ book: String) -> Bool { books.contains(book) }
      func buy(_ book: String) {
        books.insert(book)
        bought += 1
      }
    }
    let shelf = Shelf()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask { if !(await shelf.has("SICP")) { await shelf.buy("SICP") } }
      }
    }
    try requireEqual(await shelf.bought, 1)
  }

  static let mainActorOverwrite = PlantedRace("stale state written back on the main actor") {
    @MainActor final class Screen {
      nonisolated init() {}
      var items: [Int] = []
      func add(_ item: Int) async {
        let before = items
        await Task.yield()
        items = before + [item]
      }
    }
    let screen = Screen()
    let first = Task { await screen.add(1) }
    let second = Task { await screen.add(2) }
    await first.value
    await second.value
    try requireEqual(await screen.items.count, 2)
  }
}
