import Combine
import Rebound
import ReboundStore
import ReboundStoreTesting
import ReboundTelemetry
import Testing

@testable import Animals

@Suite("fetchingAnimals")
struct AnimalsMiddlewareTests {
  private struct Zoo: AnimalProviding {
    let answers: AnyPublisher<Animal, AnimalFailure>

    func randomAnimal() -> AnyPublisher<Animal, AnimalFailure> { answers }
  }

  private let dog = Animal(name: "Dog", fact: "It barks.")

  private func store(_ answers: some Publisher<Animal, AnimalFailure>) -> TestStore<AnimalsState, AnimalsAction> {
    TestStore(
      initialState: AnimalsState(),
      reducer: AnimalsState.reducer,
      middlewares: [fetchingAnimals(from: Zoo(answers: answers.eraseToAnyPublisher()))]
    )
  }

  @Test("an animal arrives")
  func success() throws {
    try store(Just(dog).setFailureType(to: AnimalFailure.self)).run { store in
      try store.send(.fetch) { $0.animal.begin() }
      try store.receive(.fetched(dog)) { $0.animal.succeed(with: Animal(name: "Dog", fact: "It barks.")) }
    }
  }

  @Test("a failure arrives as an action")
  func failure() throws {
    try store(Fail<Animal, AnimalFailure>(error: .network)).run { store in
      try store.send(.fetch) { $0.animal.begin() }
      try store.receive(.failed(.network)) {
        $0.animal.fail(with: .network)
        $0.alerts.present(AlertState(.network))
      }
    }
  }

  @Test("a service that ends without an answer is a failure, so that nobody waits for ever")
  func empty() throws {
    let failure = AnimalFailure.unknown(reason: "The service sent no animal")
    try store(Empty<Animal, AnimalFailure>()).run { store in
      try store.send(.fetch) { $0.animal.begin() }
      try store.receive(.failed(failure)) {
        $0.animal.fail(with: failure)
        $0.alerts.present(AlertState(failure))
      }
    }
  }

  @Test("a service that sends more than one animal is listened to once")
  func many() throws {
    let cat = Animal(name: "Cat", fact: "It purrs.")
    try store([dog, cat].publisher.setFailureType(to: AnimalFailure.self)).run { store in
      try store.send(.fetch) { $0.animal.begin() }
      try store.receive(.fetched(dog)) { [dog] in $0.animal.succeed(with: dog) }
    }
  }

  @Test("each action is counted by its kind, and no animal is a label")
  func counts() throws {
    let metrics = MetricsTable()
    let zoo = [dog, Animal(name: "Cat", fact: "It purrs.")]
    var visits = 0
    let answers = Deferred { () -> AnyPublisher<Animal, AnimalFailure> in
      visits += 1
      return visits > zoo.count
        ? Fail(error: .unknown(reason: "The bear")).eraseToAnyPublisher()
        : Just(zoo[visits - 1]).setFailureType(to: AnimalFailure.self).eraseToAnyPublisher()
    }
    let store = Store(
      initialState: AnimalsState(),
      reducer: AnimalsState.reducer,
      middlewares: [
        countingActions(in: metrics), fetchingAnimals(from: Zoo(answers: answers.eraseToAnyPublisher())),
      ],
      scheduler: ImmediateScheduler.shared
    )
    for _ in 1...3 { store.dispatch(.fetch) }
    if let alert = store.state.alerts.current { store.dispatch(.dismissAlert(alert.id)) }
    let counts = metrics.snapshot.counters.map { ($0.key.labels.map(\.value), $0.value) }
    #expect(
      Dictionary(uniqueKeysWithValues: counts) == [
        ["animals", "fetch"]: 3, ["animals", "fetched"]: 2, ["animals", "failed"]: 1, ["animals", "dismissAlert"]: 1,
      ]
    )
  }
}
