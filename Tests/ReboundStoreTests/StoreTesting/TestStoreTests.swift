import Combine
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
    #expect(error == .wrongState(after: "add(3)", differences: ["count: 0 → 3"]))
    #expect(error?.description.contains("count: 0 → 3") == true)
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
    #expect(atEnd == .unreceived(actions: left, before: "the end"))
    #expect(atEnd?.description.contains("+ answered(\"Dog\")") == true)
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
    #expect(error == .unexpected(expected: "add(1)", received: "answered(\"Dog\")"))
    #expect(error?.description == "Another action came than expected:\n  - add(1)\n  + answered(\"Dog\")")
  }

  @Test("an action that does not come is a failure that says what runs")
  func nothing() throws {
    let store = store()
    try store.send(.begin("Dog"))
    let error = #expect(throws: TestStoreFailure.self) { try store.receive(.answered("Dog")) }
    #expect(error == .nothingReceived(expected: "answered(\"Dog\")", openEffects: 1))
    #expect(error?.description.contains("advance the time") == true)
  }

  @Test("an effect that runs at the end is a failure")
  func openEffect() throws {
    let store = store()
    try store.send(.begin("Dog"))
    let error = #expect(throws: TestStoreFailure.self) { try store.finish() }
    #expect(error == .openEffects(count: 1, nextDue: "2.0 s"))
    #expect(error?.description.contains("2.0 s") == true)
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
    #expect(store.state.answers == ["Dog"])
  }

  @Test("receives by a condition, and skips what is not of interest")
  func receiveWhere() throws {
    let store = store()
    try store.send(.begin("Dog"))
    try store.runToTheEnd()
    let action = try store.receive(where: { if case .answered = $0 { true } else { false } }) { $0.answers = ["Dog"] }
    #expect(action == .answered("Dog"))
    store.skipReceived()
    try store.finish()
    #expect(store.state.count == 1)
  }
}
