import Combine
import Dispatch
import ReboundTesting
import ReboundTestingTraits
import Testing

/// Renews its token once too often: it lets a second call in while the first one waits.
private actor Session {
  private var token: String?
  private(set) var renewals = 0

  func validToken() async throws -> String {
    if let token { return token }
    renewals += 1
    try await ContinuousClock().sleep(for: .seconds(1))
    token = "token \(renewals)"
    return token ?? ""
  }
}

@Suite("@Test(.simulated)")
struct SimulatedTraitTests {
  @Test("a test without a race passes, with sleeps that take no time", .simulated(runs: 100))
  func passes() async throws {
    let session = Session()
    _ = try await session.validToken()
    try await ContinuousClock().sleep(for: .seconds(86_400))
    _ = try await session.validToken()
    #expect(await session.renewals == 1)
  }

  @Test("each argument is explored by itself", .simulated(runs: 20), arguments: [1, 2, 3])
  func arguments(count: Int) async {
    let total = await withTaskGroup(of: Int.self) { group in
      for number in 0..<count { group.addTask { number } }
      return await group.reduce(0, +)
    }
    #expect(total == count * (count - 1) / 2)
  }

  @Test("a test of the main actor is explored, too", .simulated(runs: 20))
  @MainActor
  func onMainActor() async {
    var order: [Int] = []
    let task = Task { @MainActor in order.append(2) }
    order.append(1)
    await task.value
    #expect(order == [1, 2])
  }

  /// Runs a test's body as the trait would, and returns what it fails with.
  private func failure(
    of trait: SimulatedTrait,
    _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> SimulationFailure? {
    let test = try #require(Test.current)
    return await #expect(throws: SimulationFailure.self) {
      try await trait.provideScope(for: test, testCase: Test.Case.current, performing: body)
    }
  }

  private static let race: @Sendable () async throws -> Void = {
    let session = Session()
    async let feed = session.validToken()
    async let profile = session.validToken()
    _ = try await (feed, profile)
    #expect(await session.renewals == 1)
  }

  @Test("what an expectation finds in one run fails the test once, with a schedule")
  func finds() async throws {
    let failure = try #require(try await failure(of: .simulated(runs: 100), Self.race))
    let text = "\(failure)"
    #expect(text.contains("session.renewals == 1"))
    #expect(text.contains("REBOUND_SEED="))
  }

  enum Place: CaseIterable {
    case main, own, global, body

    func perform(_ action: @escaping @Sendable () -> Void) {
      switch self {
      case .main: DispatchQueue.main.schedule(action)
      case .own: DispatchQueue(label: "own").schedule(action)
      case .global: DispatchQueue.global().schedule(action)
      case .body: action()
      }
    }
  }

  @Test(
    "what an expectation finds on a queue fails the test once, too, also when the body is over",
    arguments: Place.allCases,
    [true, false]
  )
  func findsOnQueues(place: Place, waits: Bool) async throws {
    // What were told beside the failure would fail this test.
    let failure = try await failure(of: .simulated(runs: 3)) {
      place.perform { Issue.record("found on a queue") }
      if waits { try await ContinuousClock().sleep(for: .seconds(1)) }
    }
    #expect("\(try #require(failure))".contains("found on a queue"))
  }

  @Test("what one run has found on a queue is not the next one's")
  func findsForOneRun() async throws {
    let runs = Counter()
    let failure = try await failure(of: .simulated(runs: 3)) {
      await runs.count()
      guard await runs.value == 1 else { return }
      DispatchQueue.main.schedule { Issue.record("found in the first run") }
    }
    // Tried once more, to make it simpler.
    #expect(await runs.value == 2)
    #expect("\(try #require(failure))".contains("found in the first run"))
  }

  @Test("an issue that is known is known on the queues of a simulation", arguments: Place.allCases)
  func knownIssues(place: Place) {
    withKnownIssue {
      try Simulation(seed: 1).run { place.perform { Issue.record("known") } }
    }
  }

  @Test("an issue that is known fails no run", .simulated(runs: 3))
  func knownInRuns() {
    withKnownIssue { Issue.record("known in each run") }
  }

  @Test("a failure is replayed from what it prints")
  func replays() async throws {
    let first = try #require(try await failure(of: .simulated(runs: 100), Self.race))
    let second = try #require(try await failure(of: .simulated(replay: first.replay), Self.race))
    #expect(second.replay == first.replay)
  }

  @Test("what a test throws, and a requirement that does not hold, fail it in the same way")
  func throwing() async throws {
    struct Refusal: Error {}
    let thrown = try #require(try await failure(of: .simulated(runs: 3)) { throw Refusal() })
    #expect("\(thrown)".contains("Refusal"))
    let required = try await failure(of: .simulated(runs: 3)) {
      let hasToken = [String]().contains("token")
      try #require(hasToken)
    }
    #expect("\(try #require(required))".contains("hasToken"))
  }

  @Test("a suite hands the trait on to its tests, and is not explored itself")
  func suites() async throws {
    let test = try #require(Test.current)
    let calls = Counter()
    try await SimulatedTrait.simulated(runs: 5).provideScope(for: test, testCase: nil) { await calls.count() }
    #expect(await calls.value == 1)
    #expect(SimulatedTrait.simulated().isRecursive)
  }
}

private actor Counter {
  private(set) var value = 0

  func count() { value += 1 }
}
