import Combine
import Expectations
import ReboundStore
import ReboundTesting
import Testing

@Suite("Logging")
struct LoggingTests {
  private let notes = Notes()

  @Test("writes each action with what it changed, and marks those of effects")
  func logs() {
    let notes = notes
    let store = Store<CountState, CountAction>(
      initialState: CountState(),
      reducer: .counting,
      reactions: [{ _, action in if case .begin(let name) = action { .send(.answered(name)) } else { .none } }],
      observers: [logging { notes.write($0) }],
      scheduler: ImmediateScheduler.shared
    )
    store.dispatch(.add(2))
    store.dispatch(.begin("Dog"))
    expectEqual(
      notes.lines,
      [
        "→ add(2)\n  count: 0 → 2", "→ begin(\"Dog\")", "← answered(\"Dog\")\n  + answers[0]: \"Dog\"",
      ]
    )
  }

  @Test("leaves out or rewrites an action that holds a secret")
  func redacts() {
    let notes = notes
    let observer: TransitionObserver<CountState, CountAction> = logging(
      redacting: { action in
        switch action {
        case .begin: nil
        case .answered: "answered(…)"
        default: "\(action)"
        }
      },
      to: { notes.write($0) }
    )
    let state = CountState()
    for action in [CountAction.begin("secret"), .answered("secret"), .add(1)] {
      observer(Transition(action: action, origin: .sent, before: state, after: state))
    }
    expectEqual(notes.lines, ["→ answered(…)", "→ add(1)"])
  }

  @Test("writes nothing of what a type in the state hides by its description but that it has changed")
  func hidesSecrets() {
    struct Password: CustomStringConvertible {
      var value: String
      var description: String { "•••" }
    }
    struct Login {
      var name = "Ann"
      var password: Password?
    }
    let notes = notes
    let observer: TransitionObserver<Login, String> = logging { notes.write($0) }
    let states = [
      Login(), Login(password: Password(value: "old")), Login(password: Password(value: "new")),
      Login(name: "Bob", password: Password(value: "new")),
    ]
    for (before, after) in zip(states, states.dropFirst()) {
      observer(Transition(action: "typed", origin: .sent, before: before, after: after))
    }
    expectEqual(
      notes.lines,
      [
        "→ typed\n  password: nil → •••", "→ typed\n  password: changed", "→ typed\n  name: \"Ann\" → \"Bob\"",
      ]
    )
  }

  @Test(
    "writes nothing of what a description hides where it is a part of something, whatever its debugDescription shows"
  )
  func hidesSecretsInside() {
    struct Password: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
      var value = "s3cret"
      var description: String { "•••" }
      var debugDescription: String { "Password(\(value))" }
    }
    struct Login: Hashable {
      var name = "Ann"
      var password: Password? = Password()
    }
    enum Form {
      case empty
      case full(Login, again: Password)
      case short(Password)
    }
    struct Logins {
      var one: Login?
      var all: [Login] = []
      var named: [String: [Password]] = [:]
      var owners: [Password: Int] = [:]
      var logins: [AnyHashable: Int] = [:]
      var sets: [Set<Password>] = []
      var pair: (Login, Password)?
      var form = Form.empty
    }
    let notes = notes
    let observer: TransitionObserver<Logins, String> = logging { notes.write($0) }
    let after = Logins(
      one: Login(),
      all: [Login(password: nil)],
      named: ["Ann": [Password()]],
      owners: [Password(): 1],
      logins: [Login(): 1],
      sets: [[Password()]],
      pair: (Login(), Password()),
      form: .full(Login(), again: Password())
    )
    observer(Transition(action: "typed", origin: .sent, before: Logins(), after: after))
    observer(Transition(action: "cut", origin: .sent, before: after, after: Logins(form: .short(Password()))))
    expectEqual(
      notes.lines,
      [
        """
        → typed
          one: nil → Login(name: "Ann", password: •••)
          + all[0]: Login(name: "Ann", password: nil)
          + named["Ann"]: [•••]
          + owners[•••]: 1
          + logins[Login(name: "Ann", password: •••)]: 1
          + sets[0]: [•••]
          pair: nil → (Login(name: "Ann", password: •••), •••)
          form: empty → full(Login(name: "Ann", password: •••), again: •••)
        """,
        """
        → cut
          one: Login(name: "Ann", password: •••) → nil
          - all[0]: Login(name: "Ann", password: nil)
          - named["Ann"]: [•••]
          - owners[•••]: 1
          - logins[Login(name: "Ann", password: •••)]: 1
          - sets[0]: [•••]
          pair: (Login(name: "Ann", password: •••), •••) → nil
          form: full(Login(name: "Ann", password: •••), again: •••) → short(•••)
        """,
      ]
    )
  }

  @Test("one listener sees the error of every action, and answers with an action of its own")
  func listens() {
    enum Action {
      case loaded(Result<Int, Broken>)
      case saved((any Error)?)
      case toast(String)
      var error: (any Error)? {
        switch self {
        case .loaded(.failure(let error)): error
        case .saved(let error): error
        case .loaded, .toast: nil
        }
      }
    }
    let store = Store<[String], Action>(
      initialState: [],
      reducer: { toasts, action in if case .toast(let text) = action { toasts.append(text) } },
      reactions: [
        errorListener(in: \.error) { error, toasts in
          error is Broken ? .toast("broken, after \(toasts.count)") : nil
        }
      ],
      scheduler: ImmediateScheduler.shared
    )
    store.dispatch(.loaded(.success(1)))
    store.dispatch(.loaded(.failure(Broken())))
    store.dispatch(.saved(Broken()))
    store.dispatch(.saved(CancellationError()))
    store.dispatch(.saved(nil))
    expectEqual(store.state, ["broken, after 0", "broken, after 1"])
  }
}
