import Combine
import Expectations
import Rebound
import ReboundStore
import ReboundTesting
import Testing

@Suite("History")
struct HistoryTests {
  private func history(_ numbers: [Int], _ policy: HistoryPolicy = .all) -> History<CountState, CountAction> {
    var history = History(initialState: CountState(), reducer: .counting, policy: policy)
    for number in numbers { history.record(.add(number)) }
    return history
  }

  private func fold(_ numbers: some Sequence<Int>) -> CountState {
    numbers.reduce(into: CountState()) { Reducer.counting(&$0, .add($1)) }
  }

  @Test("the state at k equals the fold of the first k actions, for all k and snapshot intervals")
  func stateIsFold() {
    var random = SeededRandom(seed: 12)
    let numbers = (0..<200).map { _ in Int.random(in: -9...9, using: &random) }
    for interval in [1, 3, 50, 1000] {
      var history = history(numbers, HistoryPolicy(clamping: interval))
      for k in 0...200 {
        expectEqual(history.state(at: k), fold(numbers.prefix(k)))
        expectEqual(history.jump(to: k), fold(numbers.prefix(k)))
      }
    }
  }

  @Test("goes nowhere outside the history")
  func outside() {
    var history = history([1, 2])
    #expect(history.jump(to: 3) == nil)
    #expect(history.jump(to: -1) == nil)
    expectEqual(history.position, 2)
  }

  @Test("an action after a jump takes the place of those that followed")
  func newFuture() {
    var history = history([1, 2, 3])
    history.jump(to: 1)
    expectEqual(history.count, 3)
    expectEqual(history.record(.add(10))?.count, 11)
    expectEqual(history.entries.map(\.action), [.add(1), .add(10)])
    #expect(history.jump(to: 3) == nil)
  }

  @Test("a snapshot of a future that is gone is not used")
  func staleSnapshot() {
    var history = history([1, 2, 3, 4], HistoryPolicy(clamping: 2))
    history.jump(to: 1)
    history.record(.add(100))
    history.record(.add(1))
    expectEqual(history.state(at: 3)?.count, 102)
    expectEqual(history.state(at: 2)?.count, 101)
  }

  @Test("a session ends where the history stands, also after a jump back")
  func sessionAfterJump() throws {
    var history = history([1, 2, 3])
    history.jump(to: 2)
    try expectEqual(history.session().entries.map(\.action), [.add(1), .add(2)])
  }

  @Test("a session that is replayed takes the place of all that was there")
  func replayOverOthers() {
    var history = history([1, 2, 3])
    expectEqual(history.replay(Session(entries: [.init(action: .add(10)), .init(action: .add(20))]))?.count, 30)
    expectEqual(history.entries.map(\.action), [.add(10), .add(20)])
    expectEqual((0...2).map { history.state(at: $0)?.count }, [0, 10, 30])
    expectEqual(history.position, 2)
  }

  @Test("forgets the oldest actions beyond the limit, and still knows the states that are left")
  func limit() {
    let history = history(Array(repeating: 1, count: 100), HistoryPolicy(clamping: 10, limit: 15))
    expectEqual(history.forgotten, 80)
    expectEqual(history.entries.count, 20)
    expectEqual(history.positions, 80...100)
    #expect(history.state(at: 79) == nil)
    expectEqual((80...100).map { history.state(at: $0)?.count }, Array(80...100))
    #expect(throws: InvalidSession.beginningForgotten(80)) { try history.session() }
  }

  @Test("a policy brings numbers that make no sense into range")
  func policy() {
    expectEqual(HistoryPolicy(clamping: 0, limit: -1), HistoryPolicy(clamping: 1, limit: 1))
  }

  @Test("a policy refuses numbers that make no sense, with their names")
  func refusals() throws {
    expectEqual(
      #expect(throws: InvalidPolicy.self) { try HistoryPolicy(snapshotInterval: 0) }?.setting,
      "snapshotInterval"
    )
    expectEqual(#expect(throws: InvalidPolicy.self) { try HistoryPolicy(limit: 0) }?.setting, "limit")
    try expectEqual(HistoryPolicy(), .all)
    try expectEqual(HistoryPolicy(snapshotInterval: 1, limit: 1), HistoryPolicy(clamping: 1, limit: 1))
  }

  // MARK: In a store

  private func store(
    _ scheduler: TestScheduler,
    history: HistoryPolicy? = .all,
    _ effect: @escaping (String) -> Effect<CountAction> = { _ in .none }
  ) -> Store<CountState, CountAction> {
    Store(
      initialState: CountState(),
      reducer: .counting,
      reactions: [{ _, action in if case .begin(let name) = action { effect(name) } else { .none } }],
      history: history,
      scheduler: scheduler
    )
  }

  @Test("a store jumps, goes back and on, and runs no effect a second time")
  func travels() {
    let scheduler = TestScheduler()
    var effects = 0
    let store = store(scheduler) { _ in
      effects += 1
      return .send(.answered("x"))
    }
    store.dispatch(.add(1))
    store.dispatch(.begin("a"))
    store.dispatch(.add(2))
    scheduler.advance()
    expectEqual(store.history?.entries.map(\.origin), [.sent, .sent, .sent, .effect])
    var seen: [Int] = []
    let subscription = store.select(\.count).sink { seen.append($0) }
    store.jump(to: 1)
    scheduler.advance()
    expectEqual(store.state, CountState(count: 1))
    store.redo()
    store.redo()
    store.redo()
    store.redo()
    scheduler.advance()
    expectEqual(store.state, CountState(count: 3, answers: ["x"]))
    store.undo()
    scheduler.advance()
    expectEqual(store.state, CountState(count: 3))
    expectEqual(effects, 1)
    expectEqual(seen, [3, 1, 3])
    withExtendedLifetime(subscription) {}
  }

  @Test("a jump cancels the effects that run, and what they have published and nobody has seen")
  func jumpCancels() {
    let scheduler = TestScheduler()
    let source = TestPublisher<CountAction, Never>()
    let store = store(scheduler) { _ in
      .concatenate(.publisher(source), .send(.answered("behind"))).cancellable(id: "id")
    }
    store.dispatch(.begin("a"))
    scheduler.advance()
    store.jump(to: 0)
    source.send(.answered("late"))
    scheduler.advance()
    expectEqual(store.state, CountState())
    #expect((source.cancelCount, store.effectCount, store.effectMemory) == (1, 0, 0))
  }

  @Test("a jump ends the interval of a throttle, and the next effect begins at once")
  func jumpEndsThrottle() {
    let scheduler = TestScheduler()
    let store = store(scheduler) { .send(.answered($0)).throttle(id: "t", for: .seconds(1)) }
    store.dispatch(.begin("a"))
    scheduler.advance()
    store.jump(to: 0)
    store.dispatch(.begin("b"))
    scheduler.advance()
    expectEqual(store.state.answers, ["b"])
    scheduler.advance(by: 1)
    #expect((store.effectMemory, scheduler.pendingCount) == (0, 0))
  }

  @Test("an interval that ends while a jump waits does not end the one that begins behind the jump")
  func jumpAtTheEndOfAnInterval() {
    let scheduler = TestScheduler()
    let store = store(scheduler) { .send(.answered($0)).throttle(id: "t", for: .seconds(1)) }
    // Before the timer of the interval, so that the jump waits when that rings.
    scheduler.schedule(after: scheduler.now.advanced(by: .seconds(1))) {
      store.jump(to: 0)
      store.dispatch(.begin("b"))
    }
    store.dispatch(.begin("a"))
    scheduler.advance(by: 1)
    expectEqual(store.state.answers, ["b"])
    store.dispatch(.begin("c"))
    scheduler.advance(by: .milliseconds(999))
    expectEqual(store.state.answers, ["b"])
    scheduler.advance(by: .milliseconds(1))
    expectEqual(store.state.answers, ["b", "c"])
  }

  @Test("a store without a history stays where it is")
  func without() {
    let scheduler = TestScheduler()
    let store = store(scheduler, history: nil)
    store.dispatch(.add(1))
    store.jump(to: 0)
    scheduler.advance()
    expectEqual(store.state.count, 1)
    #expect(store.history == nil)
    #expect(throws: InvalidSession.noHistory) { try store.session() }
  }
}
