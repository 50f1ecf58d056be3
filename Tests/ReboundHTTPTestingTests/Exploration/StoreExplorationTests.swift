import Rebound
import ReboundStore
import ReboundTesting
import StreamSupport
import Testing

/// A store's effects under many schedules.
@Suite struct StoreExplorationTests {
  private struct Search: Sendable {
    var query = 0
    var found: Int?
  }

  private enum Action: Sendable {
    case typed(Int)
    case found(Int)
  }

  @Test func noAnswerToAnEarlierQueryComesAfterALaterQuery() throws {
    try Exploration.explore {
      let stale = Locked<[String]>([])
      let store = Store<Search, Action>(
        initialState: Search(),
        reducer: { state, action in
          switch action {
          case .typed(let query):
            state.query = query
            state.found = nil
          case .found(let query):
            if query != state.query { stale.withLock { $0.append("\(query) for \(state.query)") } }
            state.found = query
          }
        },
        reactions: [
          { _, action in
            guard case .typed(let query) = action else { return .none }
            return .task {
              // A search that heeds no cancel.
              _ = await Task { try await Exploration.work() }.result
              return .found(query)
            }
            .cancellable(id: "search", cancelInFlight: true)
          }
        ]
      )
      for query in 1...5 {
        store.send(.typed(query))
        try await TimeSource.current.sleep(for: .seconds(Int.random(in: 0...2)))
      }
      try await TimeSource.current.sleep(for: .seconds(10))
      try requireEqual(stale.withLock { $0 }, [])
      try requireEqual(store.state.found, 5)
    }
  }

  private enum Call: Sendable { case add(Int), read }

  /// A sum that is read between additions.
  private struct Sum: SequentialModel {
    let initial = 0

    func next(_ sum: Int, _ call: Call, _ answer: Int?) -> Int? {
      switch call {
      case .add(let amount): sum + amount
      case .read: answer ?? sum == sum ? sum : nil
      }
    }
  }

  @Test func theStateIsReadAsIfActionsCameOneAfterTheOther() throws {
    try Exploration.explore {
      let store = Store<Int, Int>(
        initialState: 0,
        reducer: { sum, amount in sum += amount }
      )
      let history = ConcurrentHistory<Call, Int>()
      _ = try await Exploration.crowd(4) { number in
        for _ in 0..<3 {
          try await history.record(.add(number + 1)) {
            store.send(number + 1)
            // It is reduced where the store is at home, a moment later.
            try await TimeSource.current.sleep(for: .seconds(Int.random(in: 1...2)))
            return 0
          }
          history.recordAtOnce(.read) { store.state }
        }
      }
      try requireLinearizable(history, as: Sum())
    }
  }
}
