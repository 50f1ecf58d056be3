import Animals
import Attempts
import ReboundStore

/// What the page draws of the animals.
struct AnimalsScreen: Encodable {
  struct AnimalView: Encodable {
    let name: String
    let fact: String
  }

  struct Step: Encodable {
    let id: Int
    let action: String
    let changes: [String]
  }

  struct Travel: Encodable {
    let steps: [Step]
    let position: Int
    let count: Int
    let isTravelling: Bool
  }

  let animal: AnimalView?
  let isFetching: Bool
  let canFetch: Bool
  let words: String
  let travel: Travel
  let surfaces: Surfaces

  /// Writes down nothing where there is nothing: every key is always there.
  func encode(to encoder: any Encoder) throws {
    try surfaces.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(animal, forKey: .animal)
    try container.encode(isFetching, forKey: .isFetching)
    try container.encode(canFetch, forKey: .canFetch)
    try container.encode(words, forKey: .words)
    try container.encode(travel, forKey: .travel)
  }

  private enum CodingKeys: CodingKey {
    case animal, isFetching, canFetch, words, travel
  }
}

extension AnimalsScreen {
  init(_ store: Store<AnimalsState, AnimalsAction>, attempts: [Attempt]) {
    let state = store.state
    isFetching = store.isFetching
    canFetch = !isFetching
    animal = state.animal.value.map { AnimalView(name: $0.name, fact: $0.fact) }
    words =
      switch state.animal.phase {
      case .idle: "Press the button, and see who comes."
      case .loading: isFetching ? "Looking…" : "Nobody is looking any more: time was turned back meanwhile."
      case .loaded: ""
      case .failed: "Nobody came."
      }
    travel = Travel(store.history)
    surfaces = Surfaces(
      alert: state.alerts.current.map(AlertView.init),
      attempts: attempts.map(AttemptView.init)
    )
  }
}

extension Store where State == AnimalsState {
  /// Whether an animal is on its way.
  ///
  /// A jump in time cancels what was under way, and its load never ends by itself.
  var isFetching: Bool { state.animal.isLoading && effectCount > 0 }
}

extension AnimalsScreen.Travel {
  fileprivate init(_ history: History<AnimalsState, AnimalsAction>?) {
    var state = AnimalsState()
    var steps: [AnimalsScreen.Step] = []
    for (index, entry) in (history?.entries ?? []).enumerated() {
      let before = state
      AnimalsState.reducer(&state, entry.action)
      steps.append(
        AnimalsScreen.Step(
          id: index + 1,
          action: entry.action.words,
          changes: StateDiff.lines(from: before, to: state)
        )
      )
    }
    self.steps = steps
    position = history?.position ?? 0
    count = steps.count
    isTravelling = position != count
  }
}

extension AnimalsAction {
  fileprivate var words: String {
    switch self {
    case .fetch: "fetch"
    case .fetched(let animal): "fetched \(animal.name)"
    case .failed(.network): "failed: network"
    case .failed(.unknown): "failed: unknown"
    case .dismissAlert(let id): "dismissAlert \(id)"
    }
  }
}

extension AlertView {
  /// An alert of a store; its buttons are known by their places.
  init<Action>(_ presented: Alerts<Action>.Presented) {
    self.init(
      id: String(presented.id),
      title: presented.alert.title,
      message: presented.alert.message,
      buttons: presented.alert.buttons.enumerated().map { index, button in
        ButtonView(id: String(index), title: button.title, role: button.role == .cancel ? "cancel" : "default")
      }
    )
  }
}
