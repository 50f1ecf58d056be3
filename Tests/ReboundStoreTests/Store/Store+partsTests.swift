import Combine
import Expectations
import ReboundStore
import ReboundTesting
import Testing

@Suite("Parts of a store")
struct StorePartsTests {
  private let store = Store(initialState: CountState(), reducer: .counting, scheduler: ImmediateScheduler.shared)

  @Test("select tells a part only when it differs")
  func select() {
    var counts: [Int] = []
    let subscription = store.select(\.count).sink { counts.append($0) }
    store.dispatch(.answered("a"))
    store.dispatch(.add(1))
    store.dispatch(.add(0))
    expectEqual(counts, [0, 1])
    withExtendedLifetime(subscription) {}
  }

  @Test("select goes by the comparison that it is given")
  func selectBy() {
    var counts: [Int] = []
    let subscription = store.select(\.count, removingDuplicatesBy: { $0 / 10 == $1 / 10 }).sink { counts.append($0) }
    store.dispatch(.add(9))
    store.dispatch(.add(9))
    expectEqual(counts, [0, 18])
    withExtendedLifetime(subscription) {}
  }

  @Test("a scoped store has the part as its state and sends its actions on")
  func scope() {
    let part = store.scope(state: \.count, action: CountAction.add)
    var counts: [Int] = []
    let subscription = part.$state.sink { counts.append($0) }
    part.dispatch(3)
    store.dispatch(.answered("not for the part"))
    expectEqual(store.state.count, 3)
    expectEqual(part.state, 3)
    expectEqual(counts, [0, 3])
    #expect(part.history == nil)
    expectEqual(part.effectCount, 0)
    withExtendedLifetime(subscription) {}
  }

  @Test("a scoped store of a part that can't be compared is told of every change")
  func scopeWithoutComparison() {
    struct Part { let count: Int }
    let part = store.scope(state: { Part(count: $0.count) }, action: CountAction.add)
    var changes = 0
    let subscription = part.$state.sink { _ in changes += 1 }
    store.dispatch(.answered("a"))
    expectEqual(changes, 2)
    withExtendedLifetime(subscription) {}
  }

  @Test("a scoped store keeps its source alive, and both are released")
  func release() {
    weak var weakSource: Store<CountState, CountAction>?
    var part: Store<Int, Int>?
    do {
      let source = Store(initialState: CountState(), reducer: .counting, scheduler: ImmediateScheduler.shared)
      weakSource = source
      part = source.scope(state: \.count, action: CountAction.add)
    }
    part?.dispatch(1)
    expectEqual(weakSource?.state.count, 1)
    part = nil
    #expect(weakSource == nil)
  }
}
