import Combine
import Rebound
import ReboundStore

/// Where animals come from.
public protocol AnimalProviding {
  /// Any animal.
  func randomAnimal() -> AnyPublisher<Animal, AnimalFailure>
}

/// Fetches an animal whenever one is wanted, and says what came of it.
///
/// Whatever comes of it is an action, so the app never waits for ever.
public func fetchingAnimals(from service: any AnimalProviding) -> Middleware<AnimalsState, AnimalsAction> {
  { _, action in
    guard action == .fetch else { return nil }
    return service.randomAnimal()
      .first()
      .map(AnimalsAction.fetched)
      .replaceEmpty(with: .failed(.unknown(reason: "The service sent no animal")))
      .catch { Just(.failed($0)) }
      .eraseToAnyPublisher()
  }
}
