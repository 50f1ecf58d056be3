import Combine
import Expectations
import ReboundStore
import ReboundStoreTesting
import ReboundTesting
import Testing

@Suite("TestStore")
struct TestStoreTests {
  private func store(
    exhaustivity: TestStore<CountState, CountAction>.Exhaustivity = .on
  ) -> TestStore<CountState, CountAction> {
    TestStore(
      initialState: CountState(),
      reducer: .counting,
      reactions: [
        { _, action in
          guard case .begin(let name) = action else { return .none }
          return .concatenate(.wait(.seconds(2)), .send(.answered(name)), .send(.add(1)))
        }
      ],
      exhaustivity: exhaustivity
    )
  }

  @Test("passes when every action and every change is expected, in virtual time")
  func passes() throws {
    try store().run { store in
      try store.send(.add(1)) { $0.count = 1 }
      try store.send(.begin("Dog"))
      store.advance(by: .seconds(2))
      try store.receive(.answered("Dog")) { $0.answers = ["Dog"] }
      try store.receive(.add(1)) { $0.count = 2 }
    }
  }

  @Test("a change that was left out is a failure, with the difference")
  func missingChange() throws {
    let error = #expect(throws: TestStoreFailure.self) { try store().send(.add(3)) }
    expectEqual(error, .wrongState(after: "add(3)", differences: ["count: 0 → 3"]))
    expectEqual(error?.description.contains("count: 0 → 3"), true)
  }

  @Test("a change that did not happen is a failure")
  func wrongChange() throws {
    #expect(throws: TestStoreFailure.wrongState(after: "add(3)", differences: ["count: 4 → 3"])) {
      try store().send(.add(3)) { $0.count = 4 }
    }
  }

  @Test("an action of an effect that was not received is a failure, at the next send and at the end")
  func unreceived() throws {
    let store = store()
    try store.send(.begin("Dog"))
    store.advance(by: .seconds(2))
    let left = ["answered(\"Dog\")", "add(1)"]
    #expect(throws: TestStoreFailure.unreceived(actions: left, before: "send(add(1))")) { try store.send(.add(1)) }
    let atEnd = #expect(throws: TestStoreFailure.self) { try store.finish() }
    expectEqual(atEnd, .unreceived(actions: left, before: "the end"))
    expectEqual(atEnd?.description.contains("+ answered(\"Dog\")"), true)
  }

  @Test("an action of an effect that has come and waits for the scheduler is seen by the next send, and received")
  func dueActions() throws {
    let source = TestPublisher<CountAction, Never>()
    let store = TestStore<CountState, CountAction>(
      initialState: CountState(),
      reducer: .counting,
      reactions: [{ _, action in if case .begin = action { .publisher(source) } else { .none } }]
    )
    try store.send(.begin("Dog"))
    source.send(.answered("Dog"))
    #expect(throws: TestStoreFailure.unreceived(actions: ["answered(\"Dog\")"], before: "send(add(1))")) {
      try store.send(.add(1))
    }
    try store.receive(.answered("Dog")) { $0.answers = ["Dog"] }
    source.send(.answered("Cat"))
    try store.receive(.answered("Cat")) { $0.answers = ["Dog", "Cat"] }
    source.send(completion: .finished)
    try store.finish()
  }

  @Test("another action than the expected one is a failure that names both")
  func unexpected() throws {
    let store = store()
    try store.send(.begin("Dog"))
    try store.runToTheEnd()
    let error = #expect(throws: TestStoreFailure.self) { try store.receive(.add(1)) }
    expectEqual(error, .unexpected(expected: "add(1)", received: "answered(\"Dog\")"))
    expectEqual(error?.description, "Another action came than expected:\n  - add(1)\n  + answered(\"Dog\")")
  }

  @Test("an action that does not come is a failure that says what runs")
  func nothing() throws {
    let store = store()
    try store.send(.begin("Dog"))
    let error = #expect(throws: TestStoreFailure.self) { try store.receive(.answered("Dog")) }
    expectEqual(error, .nothingReceived(expected: "answered(\"Dog\")", openEffects: 1))
    expectEqual(error?.description.contains("advance the time"), true)
  }

  @Test("an effect that runs at the end is a failure")
  func openEffect() throws {
    let store = store()
    try store.send(.begin("Dog"))
    let error = #expect(throws: TestStoreFailure.self) { try store.finish() }
    expectEqual(error, .openEffects(count: 1, nextDue: "2.0 s"))
    expectEqual(error?.description.contains("2.0 s"), true)
  }

  @Test("without exhaustivity only what is expected has to be right")
  func notExhaustive() throws {
    let store = store(exhaustivity: .off)
    try store.send(.begin("Dog"))
    store.advance(by: .seconds(2))
    try store.receive(.add(1))
    try store.send(.add(3)) { $0.count = 4 }
    try store.send(.add(3)) { $0.count += 3 }
    #expect(throws: TestStoreFailure.self) { try store.send(.add(1)) { $0.count = 99 } }
    try store.send(.begin("Cat"))
    try store.finish()
    expectEqual(store.state.answers, ["Dog"])
  }

  private struct Shop: Equatable {
    var count = 0
    var name = "a"
    var counter = 0
    var items = ["x"]
    var prices = ["x": 1]
    var isOpen = false
  }

  @Test("without exhaustivity what is equal is right, whatever else a description shows")
  func notExhaustiveEqual() throws {
    struct Person: Equatable {
      var id: Int
      var name: String
      static func == (one: Person, other: Person) -> Bool { one.id == other.id }
    }
    struct Room: Equatable {
      var people: [Person] = []
      var count = 0
    }
    let reducer = Reducer<Room, String> { room, _ in
      room.people = [Person(id: 1, name: "Ann")]
      room.count += 1
    }
    let store = TestStore<Room, String>(initialState: Room(), reducer: reducer, exhaustivity: .off)
    try store.send("enter") {
      $0.count += 1
      $0.people = [Person(id: 1, name: "")]
    }
  }

  @Test("without exhaustivity a change that wants what is gone behind the action is made of what was there")
  func notExhaustiveGone() throws {
    let reducer = Reducer<Shop, String> { shop, _ in
      shop.items.removeAll()
      shop.count += 1
    }
    let store = TestStore<Shop, String>(initialState: Shop(), reducer: reducer, exhaustivity: .off)
    func takeLast(_ shop: inout Shop) throws {
      if shop.items.popLast() == nil { throw Broken() }
    }
    try store.send("take", changes: takeLast)
    #expect(throws: Broken.self) { try store.send("take", changes: takeLast) }
    let other = TestStore<Shop, String>(initialState: Shop(), reducer: reducer, exhaustivity: .off)
    #expect(throws: TestStoreFailure.wrongState(after: "take", differences: ["name: \"b\" → \"a\""])) {
      try other.send("take") {
        try takeLast(&$0)
        $0.name = "b"
      }
    }
  }

  @Test("without exhaustivity a change may be made of what was there, whatever else the action has changed")
  func notExhaustiveChanges() throws {
    let reducer = Reducer<Shop, String> { shop, _ in
      shop.count += 1
      shop.counter += 1
      shop.name += "b"
      shop.items.append("y")
      shop.prices["x"] = 2
      shop.prices["y"] = 1
      shop.isOpen.toggle()
    }
    func differences(_ change: @escaping (inout Shop) throws -> Void) -> [String]? {
      let store = TestStore<Shop, String>(initialState: Shop(), reducer: reducer, exhaustivity: .off)
      do {
        try store.send("all", changes: change)
        return nil
      } catch TestStoreFailure.wrongState(_, let differences) {
        return differences
      } catch {
        return ["\(error)"]
      }
    }
    let right: [(inout Shop) -> Void] = [
      { $0.count = 1 }, { $0.count += 1 }, { $0.name += "b" }, { $0.items.append("y") }, { $0.items[0] = "x" },
      { $0.prices["x"] = 2 }, { $0.prices["x", default: 0] += 1 }, { $0.isOpen.toggle() }, { $0.isOpen = true },
      {
        $0.count += 1
        $0.prices["y"] = 1
      },
    ]
    for (index, change) in right.enumerated() { #expect(differences(change) == nil, "\(index)") }
    expectEqual(differences { $0.count += 2 }, ["count: 2 → 1"])
    expectEqual(differences { $0.count = 0 }, ["count: 0 → 1"])
    expectEqual(differences { $0.items.append("z") }, ["items[1]: \"z\" → \"y\""])
    expectEqual(differences { $0.prices["x", default: 0] += 2 }, ["prices[\"x\"]: 3 → 2"])
    expectEqual(differences { $0.prices["z"] = 1 }, ["- prices[\"z\"]: 1"])
    expectEqual(
      differences {
        $0.count += 1
        $0.name = "c"
      },
      ["name: \"c\" → \"ab\""]
    )
    // What can't be made of the state before is wrong in that of after.
    expectEqual(
      differences { shop in
        if shop.items.count < 2 { throw Broken() }
        shop.count = 9
      },
      ["count: 9 → 1"]
    )
  }

  @Test("receives by a condition, and skips what is not of interest")
  func receiveWhere() throws {
    let store = store()
    try store.send(.begin("Dog"))
    try store.runToTheEnd()
    let action = try store.receive(where: { if case .answered = $0 { true } else { false } }) { $0.answers = ["Dog"] }
    expectEqual(action, .answered("Dog"))
    store.skipReceived()
    try store.finish()
    expectEqual(store.state.count, 1)
  }
}
