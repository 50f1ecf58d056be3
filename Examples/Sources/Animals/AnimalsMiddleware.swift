import Combine
import Rebound
import ReboundStore
import ReboundTelemetry

/// Where animals come from.
public protocol AnimalProviding {
  /// Any animal.
  func randomAnimal() -> AnyPublisher<Animal, AnimalFailure>
}

/// Counts each action that is dispatched, as `app_dispatches` with the labels `app` and `action`.
///
/// - Parameter sink: Gets the counts, on the store's scheduler.
public func countingActions(in sink: any MetricsSink) -> Middleware<AnimalsState, AnimalsAction> {
  sink.describe("app_dispatches", as: "Actions that the stores of apps were given.")
  return { _, action in
    sink.add(1, to: Metric("app_dispatches", .init("app", "animals"), .init("action", action.kind)))
    return nil
  }
}

/// Writes down each action that is dispatched, and what it changed: the `text` of a line of the type `action`.
///
/// - Parameter lines: Gets them while somebody reads, on the store's scheduler.
public func writingActions(to lines: JSONLines) -> TransitionObserver<AnimalsState, AnimalsAction> {
  let log: TransitionObserver<AnimalsState, AnimalsAction> = logging { lines.write("action", [EventField("text", $0)]) }
  // Nobody is to compare two states for a line that nobody reads.
  return { if lines.isRead { log($0) } }
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
