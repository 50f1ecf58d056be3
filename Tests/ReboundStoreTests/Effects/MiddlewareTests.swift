import Combine
import Expectations
import ReboundStore
import ReboundTesting
import Testing

@Suite("Middleware")
struct MiddlewareTests {
  private enum AppAction: Equatable {
    case counting(CountAction)
    case other
  }

  private struct AppState: Equatable {
    var counting = CountState()
  }

  private let path = CasePath(AppAction.counting) { if case .counting(let action) = $0 { action } else { nil } }

  private func store(
    middlewares: [Middleware<AppState, AppAction>] = [],
    reactions: [Reaction<AppState, AppAction>] = []
  ) -> Store<AppState, AppAction> {
    Store(
      initialState: AppState(),
      reducer: Reducer.counting.scoped(state: \AppState.counting, action: path),
      middlewares: middlewares,
      reactions: reactions,
      scheduler: ImmediateScheduler.shared
    )
  }

  @Test("a scoped middleware sees the part's actions with the part's state, and answers in them")
  func scopedMiddleware() {
    let middleware: Middleware<CountState, CountAction> = { state, action in
      guard case .add = action else { return nil }
      return Just(.answered("\(state.count)")).eraseToAnyPublisher()
    }
    let store = store(middlewares: [scoped(middleware, state: \.counting, action: path)])
    store.dispatch(.counting(.add(4)))
    store.dispatch(.other)
    expectEqual(store.state.counting.answers, ["4"])
  }

  @Test("a scoped reaction sees the part's actions with the part's state, and answers in them")
  func scopedReaction() {
    let reaction: Reaction<CountState, CountAction> = { state, action in
      guard case .add = action else { return .none }
      return .send(.answered("\(state.count)"))
    }
    let store = store(reactions: [scoped(reaction: reaction, state: \.counting, action: path)])
    store.dispatch(.counting(.add(4)))
    store.dispatch(.other)
    expectEqual(store.state.counting.answers, ["4"])
  }
}
