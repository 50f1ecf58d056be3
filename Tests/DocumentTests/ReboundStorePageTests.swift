import Combine
import Rebound
import ReboundStore
import ReboundStoreTesting
import ReboundTesting
import Testing

/// The code of Sources/ReboundStore/ReboundStore.docc and its companion's page, as it stands there.
@Suite("The code of ReboundStore's pages")
struct ReboundStorePageTests {
  enum AnimalFailure: Error, Equatable {
    case extinct
    case shy

    var isTransient: Bool { self == .shy }
  }

  private struct AnimalService {
    func animal() -> AnyPublisher<String, AnimalFailure> { Fail(error: .extinct).eraseToAnyPublisher() }
  }

  @Test("a failed fetch ends the progress, and the error is part of the state")
  func landingPage() {
    let service = AnimalService()

    enum AnimalAction: Equatable {
      case fetch
      case ended(Result<String, AnimalFailure>)
      case dismissed(Int)
    }
    struct AnimalState: Equatable {
      var animal = Loadable<String, AnimalFailure>()
      var alerts = Alerts<AnimalAction>()
    }
    let reducer = Reducer<AnimalState, AnimalAction> { state, action in
      switch action {
      case .fetch:
        state.animal.begin()
      case .ended(let result):
        state.animal.end(with: result)
        if case .failure = result { state.alerts.present(AlertState(title: "No animal today")) }
      case .dismissed(let id):
        state.alerts.dismiss(id)
      }
    }
    let scheduler = TestScheduler()  // the main queue in the program
    let store = Store(
      initialState: AnimalState(),
      reducer: reducer,
      reactions: [
        { _, action in
          guard action == .fetch else { return .none }
          return .run(service.animal(), retrying: .standard.when(\.isTransient)) { .ended($0) }
            .cancellable(id: "animal", cancelInFlight: true)
        }
      ],
      scheduler: scheduler
    )
    store.dispatch(.fetch)
    scheduler.advance()
    #expect(store.state.animal.error == .extinct)

    for _ in 1...2 { store.dispatch(.dismissed(1)) }
    scheduler.advance()
    #expect(store.state.alerts.current == nil)
  }

  private enum SearchAction: Equatable {
    case typed(String)
    case found(Result<[String], AnimalFailure>)
  }

  private struct SearchState: Equatable {
    var found: [String] = []
  }

  private final class SearchService {
    private(set) var asked: [String] = []

    func find(_ text: String) -> some Publisher<[String], AnimalFailure> {
      Deferred { [self] in
        asked.append(text)
        return Just([text]).setFailureType(to: AnimalFailure.self)
      }
    }
  }

  @Test("a search asks once for what was typed last")
  func effects() {
    let service = SearchService()
    let policy = RetryPolicy<AnimalFailure>.standard

    let search: Reaction<SearchState, SearchAction> = { _, action in
      guard case .typed(let text) = action else { return .none }
      guard !text.isEmpty else { return .cancel(id: "search") }
      return .run(service.find(text), retrying: policy) { .found($0) }
        .debounce(id: "search", for: .milliseconds(800))
    }

    let scheduler = TestScheduler()
    let store = Store<SearchState, SearchAction>(
      initialState: SearchState(),
      reducer: { state, action in if case .found(.success(let found)) = action { state.found = found } },
      reactions: [search],
      scheduler: scheduler
    )
    for text in ["c", "ca", "cat"] { store.dispatch(.typed(text)) }
    scheduler.advance(by: .milliseconds(800))
    #expect(service.asked == ["cat"])
    #expect(store.state.found == ["cat"])
    #expect(store.effectCount == 0)
  }

  private struct CounterState: Equatable {
    var count = 0
  }

  private enum CounterAction {
    case increment, later
  }

  @Test("a test store wants everything to be expected")
  func testing() throws {
    let counter = Reducer<CounterState, CounterAction> { state, action in
      if action == .increment { state.count += 1 }
    }

    let scheduler = TestScheduler()
    let store = TestStore(
      initialState: CounterState(),
      reducer: counter,
      reactions: [{ _, action in action == .later ? .concatenate(.wait(.seconds(60)), .send(.increment)) : .none }],
      scheduler: scheduler
    )
    try store.send(.increment) { $0.count = 1 }
    try store.send(.later)
    store.advance(by: .seconds(60))
    try store.receive(.increment) { $0.count = 2 }
    try store.finish()
  }
}
