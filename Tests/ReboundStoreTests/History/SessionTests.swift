import Combine
import Expectations
import Foundation
import ReboundStore
import ReboundTesting
import Testing

@Suite("Session")
struct SessionTests {
  private func recorded() -> Store<CountState, CountAction> {
    let store = Store(
      initialState: CountState(),
      reducer: .counting,
      reactions: [
        { _, action in if case .begin(let name) = action { .send(.answered("re: \(name)")) } else { .none } }
      ],
      history: .all,
      scheduler: ImmediateScheduler.shared
    )
    store.dispatch(.add(2))
    store.dispatch(.begin("secret"))
    store.dispatch(.add(3))
    return store
  }

  @Test("a session goes through a file and leads to the same state elsewhere, without effects")
  func roundTrip() throws {
    let store = recorded()
    let file = try store.session().json()
    let session = try Session<CountAction>(json: file)
    try expectEqual(session, store.session())
    expectEqual(session.state(from: CountState(), reducer: .counting), store.state)
    #expect(session.entries.contains(.init(action: .answered("re: secret"), origin: .effect)))
  }

  @Test("a store replays a session step by step, and can go to each")
  func replays() throws {
    let session = try recorded().session()
    var effects = 0
    let other = Store<CountState, CountAction>(
      initialState: CountState(),
      reducer: .counting,
      reactions: [
        { _, _ in
          effects += 1
          return .none
        }
      ],
      history: .all,
      scheduler: ImmediateScheduler.shared
    )
    other.replay(session)
    expectEqual(other.state, recorded().state)
    other.jump(to: 1)
    expectEqual(other.state, CountState(count: 2))
    expectEqual(effects, 0)
  }

  @Test("what is redacted is not in the file")
  func redacts() throws {
    let store = recorded()
    let file = try store.session { action in
      switch action {
      case .begin: .begin("•")
      case .answered: .answered("•")
      default: action
      }
    }.json()
    #expect(!String(decoding: file, as: UTF8.self).contains("secret"))
    try expectEqual(
      Session<CountAction>(json: file).state(from: CountState(), reducer: .counting).count,
      store.state.count
    )
  }

  @Test("the same session is the same file, whatever the machine")
  func golden() throws {
    let session = Session<CountAction>(entries: [.init(action: .add(1))])
    expectEqual(
      String(decoding: try session.json(), as: UTF8.self),
      """
      {
        "entries" : [
          {
            "action" : {
              "add" : {
                "_0" : 1
              }
            },
            "origin" : "sent"
          }
        ],
        "version" : 1
      }
      """
    )
  }

  @Test("says where a file can't be read, and why")
  func invalid() throws {
    #expect(throws: InvalidSession.unknownVersion(2)) {
      try Session<CountAction>(json: Data(#"{"version":2,"entries":[]}"#.utf8))
    }
    let missing = Data(#"{"version":1,"entries":[{"action":{"add":{"_0":"x"}},"origin":"sent"}]}"#.utf8)
    let error = #expect(throws: InvalidSession.self) { try Session<CountAction>(json: missing) }
    expectEqual(error?.description.contains("entries.[0].action.add._0"), true)
    #expect(throws: InvalidSession.self) { try Session<CountAction>(json: Data("<html>".utf8)) }
  }

  @Test("says what can't be written")
  func unwritable() {
    let session = Session<Double>(entries: [.init(action: .infinity)])
    let error = #expect(throws: InvalidSession.self) { try session.json() }
    expectEqual(error?.description.hasPrefix("An action can't be written as JSON"), true)
  }

  @Test("each error says what to do next")
  func descriptions() {
    #expect(InvalidSession.noHistory.description.contains("history: .all"))
    #expect(InvalidSession.beginningForgotten(3).description.contains("first 3 actions"))
    #expect(InvalidSession.unknownVersion(9).description.contains("form 9"))
  }

  @Test(
    "a session that cannot be read says so to people, who see no reason of a decoder's",
    arguments: [
      (.noHistory, "The store keeps no history.", "Make it with `history: .all` to export a session."),
      (
        .beginningForgotten(1), "The first action was forgotten, so the session would not replay.",
        "Make the store with a higher limit."
      ), (.unwritable("inf."), "An action can't be written as JSON.", "Look at how its type is encoded."),
      (
        .unreadable(at: "[0]", reason: "no value"), "The file is no session of this program.",
        "Give one that this program has exported."
      ),
      (
        .unknownVersion(9), "The session was written by another version (form 9).",
        "Replay it with the program that wrote it."
      ),
    ] as [(InvalidSession, String, String)]
  )
  func words(error: InvalidSession, happened: String, next: String) {
    expectEqual(error.localizedDescription, happened)
    expectEqual(error.recoverySuggestion, next)
    #expect(error.description.hasPrefix(happened.dropLast()))
    #expect(error.description.hasSuffix(". \(next)") && !error.description.contains(".."))
  }
}
