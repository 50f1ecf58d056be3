import Combine
import Dispatch
import Expectations
import Foundation
import ReboundStore
import ReboundTesting
import Testing

@Suite("Store")
struct StoreTests {
  private let scheduler = TestScheduler()
  private let notes = Notes()

  private func counting(
    middlewares: [Middleware<CountState, CountAction>] = [],
    reactions: [Reaction<CountState, CountAction>] = []
  ) -> Store<CountState, CountAction> {
    Store(
      initialState: CountState(),
      reducer: .counting,
      middlewares: middlewares,
      reactions: reactions,
      scheduler: ImmediateScheduler.shared
    )
  }

  @Test("takes an action to the reducer and publishes the state that comes of it")
  func takesAction() {
    let store = counting()
    var counts: [Int] = []
    let subscription = store.$state.map(\.count).sink { counts.append($0) }
    store.dispatch(.add(2))
    store.send(.add(3))
    expectEqual(store.state.count, 5)
    expectEqual(counts, [0, 2, 5])
    withExtendedLifetime(subscription) {}
  }

  @Test("announces a change on objectWillChange")
  func announces() {
    let store = counting()
    var announcements = 0
    let subscription = store.objectWillChange.sink { announcements += 1 }
    store.dispatch(.add(1))
    expectEqual(announcements, 1)
    withExtendedLifetime(subscription) {}
  }

  @Test("takes a reducer that is a function")
  func function() {
    func reduce(_ state: inout Int, _ action: Int) { state += action }
    let store = Store(initialState: 1, reducer: reduce, scheduler: ImmediateScheduler.shared)
    store.dispatch(2)
    expectEqual(store.state, 3)
  }

  // MARK: Threads

  @Test("loses none of 8 × 10,000 actions from eight threads and keeps the order of each")
  func eightThreads() {
    struct Sent: Sendable {
      let thread: Int
      let number: Int
    }
    let store = Store<[Int], Sent>(
      initialState: Array(repeating: 0, count: 8),
      reducer: { last, sent in
        // A number out of turn stops the count of its thread.
        if sent.number == last[sent.thread] + 1 { last[sent.thread] = sent.number }
      },
      scheduler: ImmediateScheduler.shared
    )
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 1...10_000 { store.dispatch(Sent(thread: thread, number: number)) }
    }
    expectEqual(store.state, Array(repeating: 10_000, count: 8))
  }

  @Test("loses no action from threads that find a queue of its own to land on")
  func eightThreadsOnQueue() async {
    let queue = DispatchQueue(label: "store")
    let store = Store<Int, Int>(initialState: 0, reducer: { $0 += $1 }, scheduler: queue)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 1...10_000 { store.dispatch(1) }
    }
    // The queue is serial: what was asked for before is done before.
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    expectEqual(store.state, 80_000)
  }

  @Test("queues an action that is sent from inside reducer, observer, middleware, reaction or subscriber")
  func neverNests() {
    var store: Store<CountState, CountAction>?
    var depth = 0
    let notes = notes
    func inside(_ place: String) {
      expectEqual(depth, 0, "\(place) runs inside another action")
      depth += 1
      store?.dispatch(.answered(place))
      depth -= 1
    }
    store = Store(
      initialState: CountState(),
      reducer: { state, action in
        notes.write("\(action)")
        if case .answered(let place) = action { state.answers.append(place) } else { inside("reducer") }
      },
      middlewares: [
        { _, action in
          if case .add = action { inside("middleware") }
          return nil
        }
      ],
      reactions: [
        { _, action in
          if case .add = action { inside("reaction") }
          return .none
        }
      ],
      observers: [{ if case .add = $0.action { inside("observer") } }],
      scheduler: ImmediateScheduler.shared
    )
    let subscription = store?.$state.dropFirst().sink { if $0.answers.isEmpty { inside("subscriber") } }
    store?.dispatch(.add(1))
    expectEqual(store?.state.answers, ["reducer", "subscriber", "observer", "middleware", "reaction"])
    expectEqual(notes.lines.count, 6)
    withExtendedLifetime(subscription) {}
    store = nil
  }

  @Test("takes 100,000 actions that follow each other on the same stack")
  func flatStack() {
    let store = Store<Int, Int>(
      initialState: 0,
      reducer: { $0 = $1 },
      reactions: [{ _, action in action < 100_000 ? .send(action + 1) : .none }],
      scheduler: ImmediateScheduler.shared
    )
    store.dispatch(1)
    expectEqual(store.state, 100_000)
    expectEqual(store.effectCount, 0)
  }

  // MARK: Middlewares

  @Test("asks every middleware, also behind one that returns nothing or an empty stream")
  func everyMiddleware() {
    // The spellings of the article, with and without the question mark.
    let silent: Middleware<CountState, CountAction> = { _, _ in nil }
    let empty: (CountState, CountAction) -> AnyPublisher<CountAction, Never> = { _, _ in
      Empty().eraseToAnyPublisher()
    }
    let answering: Middleware<CountState, CountAction> = { state, action in
      guard case .add = action else { return nil }
      return Just(CountAction.answered("\(state.count)")).eraseToAnyPublisher()
    }
    let store = counting(middlewares: [silent, empty, answering])
    store.dispatch(.add(7))
    expectEqual(store.state.answers, ["7"])
  }

  @Test("asks observers, middlewares and reactions in this order, each with the state after the reducer")
  func order() {
    let notes = notes
    let store = Store<Int, Int>(
      initialState: 0,
      reducer: { state, action in
        state += action
        notes.write("reducer")
      },
      middlewares: [
        { state, _ in
          notes.write("first middleware \(state)")
          return nil
        },
        { state, _ in
          notes.write("second middleware \(state)")
          return nil
        },
      ],
      reactions: [
        { state, _ in
          notes.write("reaction \(state)")
          return .none
        }
      ],
      observers: [{ notes.write("observer \($0.before) → \($0.after)") }],
      scheduler: ImmediateScheduler.shared
    )
    store.dispatch(5)
    expectEqual(notes.lines, ["reducer", "observer 0 → 5", "first middleware 5", "second middleware 5", "reaction 5"])
  }

  // MARK: Where it happens

  @Test("does everything on its scheduler, whichever thread sends")
  func onScheduler() {
    let store = Store(initialState: CountState(), reducer: .counting, scheduler: scheduler)
    store.dispatch(.add(1))
    expectEqual(store.state.count, 0)
    scheduler.advance()
    expectEqual(store.state.count, 1)
  }

  @Test("on the main queue, does what is sent from there before dispatch returns, and lands effects there")
  func onMainQueue() async {
    let counts: [Int] = await withCheckedContinuation { continuation in
      DispatchQueue.main.async {
        let landed = CurrentValueSubject<[Int], Never>([])
        // The effect comes when the first dispatch has returned: else that might deal with it as well.
        let effect = PassthroughSubject<Int, Never>()
        let store = Store<Int, Int>(
          initialState: 0,
          reducer: { state, action in
            dispatchPrecondition(condition: .onQueue(.main))
            state += action
          },
          middlewares: [
            { _, action in
              guard action == 1 else { return nil }
              return effect.receive(on: DispatchQueue.global()).eraseToAnyPublisher()
            }
          ]
        )
        store.dispatch(1)
        landed.value.append(store.state)
        var subscription: AnyCancellable?
        subscription = store.$state.filter { $0 == 11 }.first().sink { count in
          withExtendedLifetime((store, subscription)) {}
          continuation.resume(returning: landed.value + [count])
        }
        effect.send(10)
      }
    }
    expectEqual(counts, [1, 11])
  }

  @Test("still does what was sent when the last reference goes, and is released then")
  func release() {
    weak var weakStore: Store<CountState, CountAction>?
    let notes = notes
    do {
      let store = Store<CountState, CountAction>(
        initialState: CountState(),
        reducer: { _, action in notes.write("\(action)") },
        reactions: [{ _, _ in .wait(.seconds(1)) }],
        scheduler: scheduler
      )
      weakStore = store
      store.dispatch(.add(1))
      scheduler.advance()
      store.dispatch(.add(2))
    }
    #expect(weakStore == nil)
    scheduler.advance()
    expectEqual(notes.lines, ["add(1)", "add(2)"])
  }

  @Test("cancels its effects when it goes")
  func cancelsAtTheEnd() {
    let source = TestPublisher<CountAction, Never>()
    do {
      let store = counting(middlewares: [{ _, _ in source.eraseToAnyPublisher() }])
      store.dispatch(.add(1))
      expectEqual(source.cancelCount, 0)
      expectEqual(store.effectCount, 1)
    }
    expectEqual(source.cancelCount, 1)
  }
}
