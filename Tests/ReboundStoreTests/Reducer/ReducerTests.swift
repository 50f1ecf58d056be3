import Expectations
import ReboundStore
import Testing

@Suite("Reducer")
struct ReducerTests {
  private enum AppAction {
    case first(CountAction)
    case second(CountAction)
    case item(Int, String)
  }

  private enum Screen: Equatable {
    case counting(CountState)
    case closed
  }

  private struct Item: Identifiable, Equatable {
    let id: Int
    var name: String
  }

  private struct AppState: Equatable {
    var first = CountState()
    var second: CountState?
    var screen = Screen.closed
    var items = [Item(id: 1, name: "a"), Item(id: 2, name: "b")]
  }

  private let first = CasePath(AppAction.first) { if case .first(let action) = $0 { action } else { nil } }
  private let second = CasePath(AppAction.second) { if case .second(let action) = $0 { action } else { nil } }

  @Test("combined reducers answer in order, each with the state that the one before has left")
  func combines() {
    let reducer = Reducer<[String], String>.combine(
      Reducer { $0.append("1 \($1)") },
      Reducer { state, _ in state.append("2 after \(state.count)") }
    )
    var state: [String] = []
    reducer(&state, "a")
    expectEqual(state, ["1 a", "2 after 1"])
  }

  @Test("a scoped reducer answers the actions of its case for its part")
  func scopes() {
    let reducer = Reducer.counting.scoped(state: \AppState.first, action: first)
    var state = AppState()
    reducer(&state, .first(.add(2)))
    reducer(&state, .second(.add(5)))
    expectEqual(state.first.count, 2)
  }

  @Test("a reducer of an optional part changes nothing while the part is not there")
  func optional() {
    let reducer = Reducer.counting.scoped(state: \AppState.second, action: second)
    var state = AppState()
    reducer(&state, .second(.add(1)))
    #expect(state.second == nil)
    state.second = CountState()
    reducer(&state, .second(.add(1)))
    expectEqual(state.second?.count, 1)
  }

  @Test("a reducer of one case changes nothing while the state is another")
  func enumeration() {
    let counting = CasePath(Screen.counting) { if case .counting(let state) = $0 { state } else { nil } }
    let reducer = Reducer.counting.scoped(state: counting, action: first)
    var screen = Screen.closed
    reducer(&screen, .first(.add(1)))
    expectEqual(screen, .closed)
    screen = .counting(CountState())
    reducer(&screen, .first(.add(1)))
    expectEqual(screen, .counting(CountState(count: 1)))
  }

  @Test("a reducer of elements finds the one that is meant, or changes nothing")
  func elements() {
    let reducer = Reducer<Item, String> { $0.name += $1 }
      .forEach(state: \AppState.items) { (action: AppAction) in
        if case .item(let id, let text) = action { (id, text) } else { nil }
      }
    var state = AppState()
    reducer(&state, .item(2, "!"))
    reducer(&state, .item(3, "!"))
    expectEqual(state.items.map(\.name), ["a", "b!"])
  }
}
