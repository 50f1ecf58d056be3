import Animals
import Attempts
import Combine
import Dispatch
import Foundation
import ReboundStore

/// The animals behind their tab: a store with a history.
final class AnimalsScene: Scene {
  let metrics: ClientMetrics
  let recorder: RunRecorder
  private let store: Store<AnimalsState, AnimalsAction>
  private let log: AttemptLog<DispatchQueue>
  private var changes: Set<AnyCancellable> = []
  /// Whether the store has been told to fetch, and has not done it yet.
  private var isFetchSent = false

  init(services: Services, metrics: ClientMetrics, queue: DispatchQueue, changed: @escaping () -> Void) {
    self.metrics = metrics
    let recorder = RunRecorder(lines: metrics.lines)
    self.recorder = recorder
    let service = AnimalService(
      baseURL: services.backend,
      transport: services.transport,
      metrics: metrics.sink,
      lines: metrics.lines,
      onEvent: recorder.write
    )
    log = AttemptLog(scheduler: queue, source: Tab.animals.rawValue, lines: metrics.lines)
    store = Store(
      initialState: AnimalsState(),
      reducer: AnimalsState.reducer,
      middlewares: [
        countingActions(in: metrics.sink), fetchingAnimals(from: WrittenDown(service: service, log: log)),
      ],
      observers: [writingActions(to: metrics.lines)],
      history: .all,
      scheduler: queue
    )
    store.objectWillChange
      .sink { [weak self] in
        self?.isFetchSent = false
        changed()
      }
      .store(in: &changes)
    log.objectWillChange.sink { changed() }.store(in: &changes)
  }

  var screen: any Encodable { AnimalsScreen(store, attempts: log.attempts) }
  var runs: [RecordedRun] { log.runs }

  func perform(_ input: AnimalsInput) {
    switch input {
    case .fetch:
      // A page that is pressed twice has not seen yet that somebody is looking.
      guard !store.isFetching, !isFetchSent else { return }
      isFetchSent = true
      store.dispatch(.fetch)
    case .jump(let position): store.jump(to: position)
    case .resume: store.jump(to: store.history?.count ?? 0)
    case .replay(let session): store.replay(session)
    case .press(let press): choose(press.button, on: press.id)
    }
  }

  /// The file from which another page can replay what happened here.
  func recording() throws -> Data { try store.session().json() }

  func inSwift(_ run: RecordedRun, _ exchanges: RunRecorder.Exchanges) -> RequestInSwift? { .randomAnimal }

  private func choose(_ button: String, on surface: String) {
    guard let alert = store.state.alerts.current, String(alert.id) == surface else { return }
    store.dispatch(.dismissAlert(alert.id))
    if let index = Int(button), alert.alert.buttons.indices.contains(index),
      let action = alert.alert.buttons[index].action
    {
      store.dispatch(action)
    }
  }
}

/// A service whose requests are written down.
private struct WrittenDown: AnimalProviding {
  let service: any AnimalProviding
  let log: AttemptLog<DispatchQueue>

  func randomAnimal() -> AnyPublisher<Animal, AnimalFailure> {
    log.writingDown(
      "GET /animals/random",
      service.randomAnimal(),
      success: { "200 \($0.name)" },
      failure: { failure in
        switch failure {
        case .network: "no answer"
        case .unknown(let reason): "failed: \(reason ?? "without a reason")"
        }
      }
    )
  }
}

extension RequestInSwift {
  /// The one request of the app.
  static let randomAnimal = RequestInSwift(
    name: "random animal",
    module: "Animals",
    service: "AnimalService(baseURL: recorded.baseURL, transport: recorded.transport)",
    call: "randomAnimal()"
  )
}
