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
        ],
        scheduler: SimulatedScheduler()
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
}
