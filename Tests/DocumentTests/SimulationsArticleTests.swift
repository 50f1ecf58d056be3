import Rebound
import ReboundTesting
import ReboundTestingTraits
import Testing

/// The code of Simulations.md, as it stands there.
@Suite("The code of the article about simulations")
struct SimulationsArticleTests {
  actor Session {
    private var token: String?
    private(set) var renewals = 0

    func validToken() async throws -> String {
      if let token { return token }
      renewals += 1
      try await ContinuousClock().sleep(for: .seconds(1))  // the server
      token = "token \(renewals)"
      return token ?? ""
    }
  }

  @Test("a token that is renewed twice is found, and replayed")
  func doubleRenewal() throws {
    let failure = try #require(
      #expect(throws: SimulationFailure.self) {
        try simulate(runs: 1_000) {
          let session = Session()
          async let feed = session.validToken()
          async let profile = session.validToken()
          _ = try await (feed, profile)
          try requireEqual(await session.renewals, 1)
        }
      }
    )
    #expect(failure.isReplayable)
    #expect(failure.description.contains("REBOUND_SEED=\(failure.replay) swift test"))
  }

  @Test("a schedule is written down and read again")
  func schedule() throws {
    try Simulation(seed: 0, schedule: Schedule("3:1,7:2")).run {
      try requireEqual(TimeSource.current.now, .zero)
    }
  }

  enum CounterCall { case add }

  struct CounterModel: SequentialModel {
    let initial = 0

    func next(_ count: Int, _ call: CounterCall, _ answer: Int?) -> Int? {
      answer == nil || answer == count + 1 ? count + 1 : nil
    }
  }

  actor Counter {
    private var count = 0

    func add() -> Int {
      count += 1
      return count
    }
  }

  @Test("a counter that adds without a wait is explained by an order of its calls")
  func linearizable() throws {
    try simulate(runs: 200) {
      let counter = Counter()
      let history = ConcurrentHistory<CounterCall, Int>()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { await history.record(.add) { await counter.add() } } }
      }
      try requireLinearizable(history, as: CounterModel())
    }
  }

  @Suite("with a session that shares the renewal that is under way")
  struct Mended {
    actor Session {
      private var renewal: Task<String, any Error>?
      private(set) var renewals = 0

      func validToken() async throws -> String {
        if let renewal { return try await renewal.value }
        renewals += 1
        let renewal = Task { [renewals] in
          try await ContinuousClock().sleep(for: .seconds(1))
          return "token \(renewals)"
        }
        self.renewal = renewal
        return try await renewal.value
      }
    }

    @Test(.simulated(runs: 1_000))
    func renewsOnce() async throws {
      let session = Session()
      async let feed = session.validToken()
      async let profile = session.validToken()
      _ = try await (feed, profile)
      #expect(await session.renewals == 1)
    }
  }
}
