import Combine
import Dispatch
import Expectations
import Rebound
import ReboundStore
import ReboundTesting
import Testing

@Suite("Effect")
struct EffectTests {
  private let scheduler = TestScheduler()
  private let sources = Sources()

  /// The streams that effects are made of, by name.
  private final class Sources {
    private var all: [String: TestPublisher<CountAction, Never>] = [:]

    subscript(name: String) -> TestPublisher<CountAction, Never> {
      if let source = all[name] { return source }
      let source = TestPublisher<CountAction, Never>()
      all[name] = source
      return source
    }
  }

  private func store(
    _ effect: @escaping (String) -> Effect<CountAction>
  ) -> Store<CountState, CountAction> {
    Store(
      initialState: CountState(),
      reducer: .counting,
      reactions: [
        { _, action in if case .begin(let name) = action { effect(name) } else { .none } }
      ],
      scheduler: scheduler
    )
  }

  private func begin(_ names: String..., in store: Store<CountState, CountAction>) {
    for name in names { store.dispatch(.begin(name)) }
    scheduler.advance()
  }

  // MARK: Ids

  @Test("with cancelInFlight the latest wins, however late the earlier one answers")
  func latestWins() {
    let store = store { .publisher(sources[$0]).cancellable(id: "search", cancelInFlight: true) }
    begin("a", "b", in: store)
    sources["a"].send(.answered("a"))
    sources["b"].send(.answered("b"))
    sources["a"].send(.answered("a again"))
    scheduler.advance()
    expectEqual(store.state.answers, ["b"])
    expectEqual(sources["a"].cancelCount, 1)
    expectEqual(store.effectCount, 1)
  }

  @Test("an answer that waits to be reduced when its effect is outranked is dropped")
  func staleInQueue() {
    let store = store { .publisher(sources[$0]).cancellable(id: "search", cancelInFlight: true) }
    begin("a", in: store)
    // In the queue in this order: begin b, then the answer of a, which came before b was begun.
    store.dispatch(.begin("b"))
    sources["a"].send(.answered("a"))
    scheduler.advance()
    sources["b"].send(.answered("b"))
    scheduler.advance()
    expectEqual(store.state.answers, ["b"])
  }

  @Test("an answer that waits to be reduced when its effect has ended is dropped, too")
  func staleAfterEnd() {
    let store = store { .publisher(sources[$0]).cancellable(id: "search", cancelInFlight: true) }
    begin("a", in: store)
    store.dispatch(.begin("b"))
    sources["a"].send(.answered("a"))
    sources["a"].send(completion: .finished)
    scheduler.advance()
    expectEqual(store.state.answers, [])
  }

  @Test("without cancelInFlight both run, and one cancel ends both")
  func cancelById() {
    let store = store { name in
      name == "stop" ? .cancel(id: "x") : .publisher(sources[name]).cancellable(id: "x")
    }
    begin("a", "b", in: store)
    sources["a"].send(.answered("a"))
    sources["b"].send(.answered("b"))
    scheduler.advance()
    expectEqual(store.state.answers, ["a", "b"])
    begin("stop", in: store)
    sources["a"].send(.answered("late"))
    scheduler.advance()
    expectEqual(store.state.answers, ["a", "b"])
    #expect((sources["a"].cancelCount, sources["b"].cancelCount) == (1, 1))
    #expect((store.effectCount, store.effectMemory) == (0, 0))
  }

  @Test("a cancel of an id leaves other ids alone, and one that nothing has does nothing")
  func cancelsOnlyItsId() {
    let store = store { name in
      name == "stop" ? .cancel(id: 7) : .publisher(sources[name]).cancellable(id: name)
    }
    begin("a", "stop", in: store)
    expectEqual(store.effectCount, 1)
    expectEqual(sources["a"].cancelCount, 0)
  }

  @Test("an id around several effects cancels all of them, and nothing of the rest begins")
  func cancelsGroup() {
    let store = store { name in
      guard name != "stop" else { return .cancel(id: "group") }
      return .concatenate(
        .merge(.publisher(sources["a"]), .publisher(sources["b"])).cancellable(id: "inner"),
        .publisher(sources["c"])
      )
      .cancellable(id: "group")
    }
    begin("go", in: store)
    expectEqual(store.effectCount, 2)
    begin("stop", in: store)
    expectEqual(store.effectCount, 0)
    expectEqual(sources["c"].subscriptionCount, 0)
    expectEqual(store.effectMemory, 0)
  }

  @Test("a sequence that is cancelled goes no further, and cancels nothing of others any more")
  func cancelledSequenceCancelsNothing() {
    let store = store { name in
      switch name {
      case "go": .concatenate(.publisher(sources["a"]), .cancel(id: "other")).cancellable(id: "go")
      case "stop": .cancel(id: "go")
      default: .publisher(sources[name]).cancellable(id: name)
      }
    }
    begin("other", "go", "stop", in: store)
    #expect((sources["a"].cancelCount, sources["other"].cancelCount) == (1, 0))
    sources["other"].send(.answered("other"))
    scheduler.advance()
    expectEqual(store.state.answers, ["other"])
    expectEqual(store.effectCount, 1)
  }

  @Test("a part of a sequence that is cancelled counts as ended, and the next one begins")
  func cancelsPart() {
    let store = store { name in
      guard name != "stop" else { return .cancel(id: "part") }
      return .concatenate(.publisher(sources["a"]).cancellable(id: "part"), .publisher(sources["b"]))
    }
    begin("go", in: store)
    expectEqual(sources["b"].subscriptionCount, 0)
    begin("stop", in: store)
    expectEqual(sources["b"].subscriptionCount, 1)
  }

  @Test("an effect with the id of what is around it does not cancel itself")
  func sameIdInside() {
    let answer = Effect.send(CountAction.answered("a"))
    let single = answer.cancellable(id: "id", cancelInFlight: true)
    let effects = [
      single.cancellable(id: "id"),
      single.debounce(id: "id", for: .seconds(1)),
      single.throttle(id: "id", for: .seconds(1)),
      answer.debounce(id: "id", for: .seconds(1)).throttle(id: "id", for: .seconds(1)),
      .concatenate(.wait(.seconds(1)), single).cancellable(id: "id"),
    ]
    for effect in effects {
      let store = store { _ in effect }
      begin("go", in: store)
      scheduler.advance(by: 3)
      expectEqual(store.state.answers, ["a"])
      #expect((store.effectCount, store.effectMemory) == (0, 0))
    }
  }

  @Test("with one id inside and outside, the latest wins, and a cancel takes all")
  func sameIdInsideLatestWins() {
    let store = store { name in
      guard name != "stop" else { return .cancel(id: "id") }
      return .publisher(sources[name]).cancellable(id: "id", cancelInFlight: true).debounce(id: "id", for: .seconds(1))
    }
    begin("a", in: store)
    scheduler.advance(by: 1)
    begin("b", in: store)
    expectEqual(sources["a"].cancelCount, 1)
    scheduler.advance(by: 1)
    sources["a"].send(.answered("a"))
    sources["b"].send(.answered("b"))
    scheduler.advance()
    expectEqual(store.state.answers, ["b"])
    begin("stop", in: store)
    expectEqual(sources["b"].cancelCount, 1)
    #expect((store.effectCount, store.effectMemory) == (0, 0))
  }

  // MARK: Groups

  @Test("merges run at the same time; the whole ends with the last")
  func merges() {
    let store = store { _ in
      .concatenate(.merge(.publisher(sources["a"]), .publisher(sources["b"])), .send(.answered("end")))
    }
    begin("go", in: store)
    sources["b"].send(completion: .finished)
    scheduler.advance()
    expectEqual(store.state.answers, [])
    sources["a"].send(completion: .finished)
    scheduler.advance()
    expectEqual(store.state.answers, ["end"])
  }

  @Test("concatenated effects run one after the other, each behind the actions of the one before")
  func concatenates() {
    let store = store { name in
      guard name == "go" else { return .none }
      return .concatenate(
        .merge(.send(.answered("1")), .send(.answered("2"))),
        .wait(.seconds(1)),
        .send(.answered("3")),
        .none
      )
    }
    begin("go", in: store)
    expectEqual(store.state.answers, ["1", "2"])
    scheduler.advance(by: 1)
    expectEqual(store.state.answers, ["1", "2", "3"])
    #expect((store.effectCount, store.effectMemory) == (0, 0))
  }

  @Test("a sequence of 10,000 effects that end at once needs the same stack")
  func longSequence() {
    let store = store { name in
      name == "go" ? .concatenate(Array(repeating: .send(.add(1)), count: 10_000)) : .none
    }
    begin("go", in: store)
    expectEqual(store.state.count, 10_000)
  }

  // MARK: Time

  @Test("debounce begins after a pause without another one, in virtual time, and cancels what runs")
  func debounce() {
    let store = store { .publisher(sources[$0]).debounce(id: "typed", for: .milliseconds(800)) }
    begin("a", in: store)
    scheduler.advance(by: .milliseconds(799))
    begin("ab", in: store)
    scheduler.advance(by: .milliseconds(799))
    #expect((sources["a"].subscriptionCount, sources["ab"].subscriptionCount) == (0, 0))
    scheduler.advance(by: .milliseconds(1))
    expectEqual(sources["ab"].subscriptionCount, 1)
    begin("abc", in: store)
    expectEqual(sources["ab"].cancelCount, 1)
    scheduler.advance(by: .milliseconds(800))
    expectEqual(sources["abc"].subscriptionCount, 1)
    sources["abc"].send(completion: .finished)
    scheduler.advance()
    #expect((store.effectCount, store.effectMemory, scheduler.pendingCount) == (0, 0, 0))
  }

  @Test("throttle begins the first at once, and the latest of the others when the interval ends")
  func throttleLatest() {
    let store = store { .send(.answered($0)).throttle(id: "t", for: .seconds(1)) }
    begin("a", "b", "c", in: store)
    expectEqual(store.state.answers, ["a"])
    expectEqual(store.effectCount, 1)
    scheduler.advance(by: 1)
    expectEqual(store.state.answers, ["a", "c"])
    // The interval after the latest is one of its own.
    begin("d", in: store)
    scheduler.advance(by: .milliseconds(999))
    expectEqual(store.state.answers, ["a", "c"])
    scheduler.advance(by: .milliseconds(1))
    expectEqual(store.state.answers, ["a", "c", "d"])
    scheduler.advance(by: 1)
    #expect((store.effectCount, store.effectMemory, scheduler.pendingCount) == (0, 0, 0))
  }

  @Test("each effect that a throttle begins has its own interval behind it, also one that waited")
  func throttleIntervals() {
    let intervals: [String: Duration] = ["a": .seconds(1), "b": .seconds(10), "c": .seconds(2)]
    let store = store { .send(.answered($0)).throttle(id: "t", for: intervals[$0] ?? .zero) }
    begin("a", "b", in: store)
    scheduler.advance(by: 1)
    expectEqual(store.state.answers, ["a", "b"])
    begin("c", in: store)
    scheduler.advance(by: .milliseconds(9_999))
    expectEqual(store.state.answers, ["a", "b"])
    scheduler.advance(by: .milliseconds(1))
    expectEqual(store.state.answers, ["a", "b", "c"])
    scheduler.advance(by: 2)
    #expect((store.effectCount, store.effectMemory, scheduler.pendingCount) == (0, 0, 0))
  }

  @Test("throttle without latest drops what comes too soon")
  func throttleFirst() {
    let store = store { .send(.answered($0)).throttle(id: "t", for: .seconds(1), latest: false) }
    begin("a", "b", in: store)
    scheduler.advance(by: 1)
    begin("c", in: store)
    scheduler.advance(by: 1)
    expectEqual(store.state.answers, ["a", "c"])
    #expect((store.effectCount, store.effectMemory, scheduler.pendingCount) == (0, 0, 0))
  }

  @Test("a cancel takes away what waits for the end of an interval")
  func cancelsThrottled() {
    let store = store { $0 == "stop" ? .cancel(id: "t") : .send(.answered($0)).throttle(id: "t", for: .seconds(1)) }
    begin("a", in: store)
    begin("b", "stop", in: store)
    expectEqual(store.effectCount, 0)
    scheduler.advance(by: 2)
    expectEqual(store.state.answers, ["a"])
    expectEqual(store.effectMemory, 0)
  }

  @Test("of what is typed, one request is sent after 0.8 s, none for the same text, and the latest answer counts")
  func perKeystroke() {
    let sources = sources
    let store = Store<CountState, CountAction>(
      initialState: CountState(),
      reducer: { state, action in
        if case .answered(let answer) = action { state.answers = [answer] }
      },
      reactions: [
        { state, action in
          guard case .begin(let text) = action, state.answers != [text] else { return .none }
          return .publisher(sources[text]).debounce(id: "typed", for: .milliseconds(800))
        }
      ],
      scheduler: scheduler
    )
    begin("a", "ab", "abc", in: store)
    scheduler.advance(by: .milliseconds(800))
    begin("abcd", in: store)
    scheduler.advance(by: .milliseconds(800))
    sources["abcd"].send(.answered("abcd"))
    sources["abc"].send(.answered("abc"))
    begin("abcd", in: store)
    scheduler.advance(by: .milliseconds(800))
    expectEqual(store.state.answers, ["abcd"])
    let asked = ["a", "ab", "abc", "abcd"].map { sources[$0].subscriptionCount }
    expectEqual(asked, [0, 0, 1, 1])
  }

  @Test("drops what a stream sends after its end, or a second time")
  func afterTheEnd() {
    let store = store { .publisher(sources[$0]) }
    begin("a", in: store)
    sources["a"].send(.add(1))
    sources["a"].send(completion: .finished)
    sources["a"].send(.add(1))
    sources["a"].send(completion: .finished)
    scheduler.advance()
    expectEqual(store.state.count, 1)
    expectEqual(store.effectCount, 0)
  }

  // MARK: Memory

  @Test("after 10,000 effects nothing of them is kept")
  func releases() {
    let store = store { name in
      .merge(
        .send(.add(1)),
        .publisher(Just(CountAction.add(1)).delay(for: .seconds(1), scheduler: scheduler)).cancellable(id: name)
      )
    }
    for number in 1...10_000 { store.dispatch(.begin("\(number)")) }
    scheduler.advance()
    expectEqual(store.effectCount, 10_000)
    scheduler.advance(by: 1)
    expectEqual(store.state.count, 20_000)
    #expect((store.effectCount, store.effectMemory) == (0, 0))
  }

  @Test("what an effect holds is released when it ends, and when it is cancelled")
  func releasesContents() {
    final class Held {}
    weak var weakHeld: Held?
    let store = store { name in
      guard name != "stop" else { return .cancel(id: "id") }
      let held = Held()
      weakHeld = held
      return .publisher(sources[name].handleEvents(receiveOutput: { _ in withExtendedLifetime(held) {} }))
        .cancellable(id: "id")
    }
    begin("a", in: store)
    #expect(weakHeld != nil)
    sources["a"].connections.last?.send(completion: .finished)
    sources["a"].connections.last?.letGo()
    scheduler.advance()
    #expect(weakHeld == nil)
    begin("b", in: store)
    #expect(weakHeld != nil)
    begin("stop", in: store)
    #expect(weakHeld == nil)
  }

  @Test("effects that begin, answer, end and are outranked on eight threads leave nothing behind")
  func race() {
    /// Made before the race, and only read in it.
    struct Subjects: @unchecked Sendable {
      // Unchecked, because subjects are made for any thread.
      let all = (0..<4_000).map { _ in PassthroughSubject<CountAction, Never>() }
    }
    let subjects = Subjects()
    let store = Store<CountState, CountAction>(
      initialState: CountState(),
      reducer: .counting,
      reactions: [
        { _, action in
          guard case .begin(let name) = action, let number = Int(name) else { return .none }
          let answer = Effect.publisher(subjects.all[number])
          switch number % 3 {
          case 0: return answer.cancellable(id: "race", cancelInFlight: true)
          case 1: return .merge(answer.cancellable(id: number), .cancel(id: number - 3))
          default: return .concatenate(answer, .send(.add(1)))
          }
        }
      ],
      scheduler: ImmediateScheduler.shared
    )
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in stride(from: thread, to: 4_000, by: 8) {
        store.dispatch(.begin("\(number)"))
        subjects.all[number].send(.add(1))
        subjects.all[number].send(completion: .finished)
      }
    }
    #expect((store.effectCount, store.effectMemory) == (0, 0))
    // Every third one is followed by an action of its own, whatever came of its answer.
    #expect(store.state.count >= 1_333)
  }

  // MARK: map

  @Test("a mapped effect keeps its ids, pauses and groups")
  func maps() {
    let store = store { name in
      let numbers: Effect<Int> =
        name == "stop"
        ? .cancel(id: "id")
        : .concatenate(
          .send(1),
          .merge(.wait(.seconds(1)), .task { nil }),
          .send(2).throttle(id: "throttle", for: .seconds(1)),
          .none
        )
        .cancellable(id: "id", cancelInFlight: true)
      return numbers.map { .add($0) }
    }
    begin("go", in: store)
    expectEqual(store.state.count, 1)
    begin("stop", in: store)
    scheduler.advance(by: 5)
    expectEqual(store.state.count, 1)
    #expect((store.effectCount, store.effectMemory) == (0, 0))
  }

  @Test("of effects that run together, the one that lets the store go is the last to begin")
  func storeGoesWhileTheyBegin() {
    var held: Store<CountState, CountAction>?
    let source = sources["behind"]
    held = store { _ in
      let letGo = Deferred {
        held = nil
        return Empty<CountAction, Never>(completeImmediately: false)
      }
      return .merge(.publisher(letGo), .publisher(source).cancellable(id: "id"))
    }
    held?.dispatch(.begin("a"))
    scheduler.advance()
    #expect(held == nil)
    expectEqual(source.subscriptionCount, 0)
  }

  @Test("tells an effect that is none from others")
  func isNone() {
    #expect(Effect<Int>.none.isNone)
    #expect(!Effect.send(1).isNone)
  }
}
