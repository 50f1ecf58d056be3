import Combine
import Foundation
import Rebound
import ReboundStore
import Testing

// What the examples in the doc comments of ReboundStore take for granted. No target: scripts/check-examples compiles it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

struct AnimalFailure: Error, Hashable, Codable {
  static let network = AnimalFailure()
  var isTransient: Bool { true }
  var title: String { "" }
}

struct AnimalService: Sendable {
  func animal() -> AnyPublisher<String, AnimalFailure> { given() }
  func animal() async throws(AnimalFailure) -> String { given() }
  func search(_: String) -> AnyPublisher<[String], AnimalFailure> { given() }
}

enum AppAction: Codable, Equatable, Sendable {
  case fetch
  case fetched(String)
  case failed(AnimalFailure)
  case toast(String)
  case animals(AnimalsAction)
  case alertDismissed(Int)

  var error: (any Error)? { nil }
  var withoutPassword: AppAction { self }
  var animals: AnimalsAction? { nil }
}

enum AnimalsAction: Codable, Equatable, Sendable {
  case fetch
}

enum CounterAction {
  case increment
  case reset
}

struct AnimalsState: Equatable, Sendable {}

struct AppState: Equatable, Sendable {
  var fetchInProgress = false
  var current = ""
  var animals = AnimalsState()
}

let service = AnimalService()
let text = ""
let appReducer = Reducer<AppState, AppAction> { _, _ in }
let counter = Reducer<Int, CounterAction> { _, _ in }
var store: Store<AppState, AppAction> { given() }
var subscriptions: Set<AnyCancellable> {
  get { [] }
  set {}
}
func animals(_: AnimalService) -> Middleware<AppState, AppAction> { given() }
func show<Value>(_: Value) {}

// MARK: What only the examples of one file take for granted

enum AlertStateExamples {
  // Examples: switch action { case .fetch: break %default: break }
  static var action: AppAction { given() }
  struct State {
    var alerts = Alerts<AppAction>()
  }
  static var state: State {
    get { given() }
    set {}
  }
}

enum Effect_runExamples {
  // Examples: func example() -> Effect<Action> {%}
  enum Action: Sendable {
    case fetched(Result<String, AnimalFailure>)
  }
}

enum EffectExamples {
  // Examples: func example() -> Effect<Search> {%}
  enum Search {
    case found(Result<[String], AnimalFailure>, for: String)
  }
}

enum ReducerExamples {
  static var animals: Reducer<AnimalsState, AnimalsAction> { given() }
}

enum LoadableExamples {
  struct State {
    var animal: Loadable<String, AnimalFailure>
  }
  static var state: State {
    get { given() }
    set {}
  }
}

enum OptimisticExamples {
  struct Like: OptimisticChange {
    let id: Int
    let of: String
    func apply(to value: inout [String]) {}
  }
  struct State {
    var likes: Optimistic<Like>
  }
  static var state: State {
    get { given() }
    set {}
  }
}

enum Store_partsExamples {
  final class Spinner: Sendable {
    var isShown: Bool {
      get { false }
      set {}
    }
  }
  static let spinner = Spinner()
}

enum LoggingExamples {
  struct Logger {
    func debug(_: String) {}
  }
  static var logger: Logger { Logger() }
}

enum StateDiffExamples {
  static let before = AppState()
  static let after = AppState()
}
