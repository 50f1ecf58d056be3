import ReboundStore

/// Everything that the animals app knows.
public struct AnimalsState: Equatable, Sendable {
  /// The animal, and the way to it.
  public var animal = Loadable<Animal, AnimalFailure>()
  /// What a person has to be told.
  public var alerts = Alerts<AnimalsAction>()

  /// Makes the state in which the app begins.
  public init() {}
}

/// Everything that can happen to the animals app.
public enum AnimalsAction: Hashable, Codable, Sendable {
  /// Somebody wants to see an animal.
  case fetch
  /// The service has sent one.
  case fetched(Animal)
  /// The service has not sent one.
  case failed(AnimalFailure)
  /// Somebody has read an alert.
  case dismissAlert(Int)
}

extension AnimalsAction {
  /// Which of the four it is, without what it carries.
  var kind: String {
    switch self {
    case .fetch: "fetch"
    case .fetched: "fetched"
    case .failed: "failed"
    case .dismissAlert: "dismissAlert"
    }
  }
}

extension AnimalsState {
  /// How the state answers actions.
  public static let reducer = Reducer<AnimalsState, AnimalsAction> { state, action in
    switch action {
    case .fetch:
      state.animal.begin()
    case .fetched(let animal):
      state.animal.succeed(with: animal)
    case .failed(let failure):
      guard state.animal.fail(with: failure) else { return }
      state.alerts.present(.init(failure))
    case .dismissAlert(let id):
      if state.alerts.dismiss(id) { state.animal.dismissError() }
    }
  }
}

extension AlertState where Action == AnimalsAction {
  /// The alert for a failure: each kind has its own.
  init(_ failure: AnimalFailure) {
    let buttons: [Button] = [Button("Try again", action: .fetch), Button("Not now", role: .cancel)]
    switch failure {
    case .network:
      self.init(
        title: "No connection to the zoo",
        message: "The connection broke before an animal came. Check your network, and try again.",
        buttons: buttons
      )
    case .unknown(let reason):
      self.init(
        title: "Something is wrong at the zoo",
        message: "\(reason ?? "The service failed and did not say why"). It may work if you try again.",
        buttons: buttons
      )
    }
  }
}
