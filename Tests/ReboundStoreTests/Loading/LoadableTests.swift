import Combine
import Expectations
import Rebound
import ReboundStore
import ReboundTesting
import Testing

@Suite("Loadable")
struct LoadableTests {
  private typealias Animal = Loadable<String, Broken>

  @Test("keeps the value before while it loads again, and after it failed")
  func keepsPrevious() {
    var animal = Animal()
    expectEqual(animal.phase, .idle)
    animal.begin()
    expectEqual(animal.phase, .loading(previous: nil, attempt: 1))
    animal.succeed(with: "Cat", at: .seconds(5))
    expectEqual(animal.phase, .loaded("Cat", at: .seconds(5)))
    animal.begin()
    expectEqual(animal.phase, .loading(previous: "Cat", attempt: 1))
    expectEqual(animal.value, "Cat")
    animal.fail(with: Broken())
    expectEqual(animal.phase, .failed(Broken(), previous: "Cat", attempt: 1))
    #expect((animal.value, animal.error, animal.isLoading) == ("Cat", Broken(), false))
    animal.begin()
    expectEqual(animal.phase, .loading(previous: "Cat", attempt: 1))
    expectEqual(animal.age(at: .seconds(8)), .seconds(3))
  }

  @Test("counts the attempts of one load, and begins anew with the next")
  func attempts() {
    var animal = Animal()
    animal.begin()
    expectEqual(animal.retry(), true)
    expectEqual(animal.attempt, 2)
    expectEqual(animal.retry(attempt: 5), true)
    animal.fail(with: Broken())
    expectEqual(animal.attempt, 5)
    expectEqual(animal.retry(), false)
    animal.begin()
    expectEqual(animal.attempt, 1)
  }

  @Test("an answer to an earlier load is dropped, in whatever order the answers come")
  func generations() {
    var animal = Animal()
    let first = animal.begin()
    let second = animal.begin()
    expectEqual(animal.succeed(with: "stale", generation: first), false)
    expectEqual(animal.fail(with: Broken(), generation: first), false)
    expectEqual(animal.retry(generation: first), false)
    #expect(animal.isLoading)
    expectEqual(animal.end(with: .success("Dog"), generation: second), true)
    expectEqual(animal.succeed(with: "stale", generation: first), false)
    expectEqual(animal.end(with: .failure(Broken()), generation: second), false)
    expectEqual(animal.phase, .loaded("Dog", at: nil))
  }

  private enum FetchAction {
    case fetch
    case retrying(attempt: Int, generation: Int)
    case ended(Result<String, Broken>, generation: Int)
  }

  @Test("in a store, a policy's attempts show in the state, and the answer to a load that is outranked is dropped")
  func inStore() {
    let scheduler = TestScheduler()
    let upstream = TestPublisher<String, Broken>()
    let policy = RetryPolicy<Broken>(clamping: 2, backoff: .constant(.seconds(1)))
    let store = Store<Animal, FetchAction>(
      initialState: Animal("Cat"),
      reducer: { animal, action in
        switch action {
        case .fetch: animal.begin()
        case .retrying(let attempt, let generation): animal.retry(attempt: attempt, generation: generation)
        case .ended(let result, let generation): animal.end(with: result, generation: generation)
        }
      },
      reactions: [
        { animal, action in
          guard case .fetch = action else { return .none }
          let generation = animal.generation
          return .run(
            upstream,
            retrying: policy,
            onRetry: { .retrying(attempt: $0.attempt + 1, generation: generation) },
            into: { .ended($0, generation: generation) }
          )
        }
      ],
      scheduler: scheduler
    )
    store.dispatch(.fetch)
    scheduler.advance()
    upstream.send(completion: .failure(Broken()))
    scheduler.advance(by: 1)
    expectEqual(store.state.phase, .loading(previous: "Cat", attempt: 2))
    store.dispatch(.fetch)
    scheduler.advance()
    upstream.connections[1].send("late")
    scheduler.advance()
    expectEqual(store.state.phase, .loading(previous: "Cat", attempt: 1))
    for _ in 1...3 {
      upstream.send(completion: .failure(Broken()))
      scheduler.advance(by: 1)
    }
    expectEqual(store.state.phase, .failed(Broken(), previous: "Cat", attempt: 3))
  }

  @Test("a failed effect always ends the progress: nothing stays on loading")
  func neverStuck() {
    var animal = Animal()
    animal.begin()
    expectEqual(animal.end(with: .failure(Broken())), true)
    #expect(!animal.isLoading)
  }

  @Test("a cancel is no failure: the value before is there again, and the late answer is dropped")
  func cancels() {
    var animal = Animal("Cat", at: .seconds(1))
    let load = animal.begin()
    animal.cancel()
    expectEqual(animal.phase, .loaded("Cat", at: .seconds(1)))
    expectEqual(animal.succeed(with: "late", generation: load), false)
    expectEqual(animal.value, "Cat")
    var empty = Animal()
    empty.cancel()
    empty.begin()
    empty.cancel()
    expectEqual(empty.phase, .idle)
  }

  @Test("a failure is not an empty list, and an empty list is not a failure")
  func emptyIsNoFailure() {
    var list = Loadable<[String], Broken>()
    list.begin()
    list.succeed(with: [])
    expectEqual(list.value, [])
    #expect(list.error == nil)
    var failed = Loadable<[String], Broken>()
    failed.begin()
    failed.fail(with: Broken())
    #expect(failed.value == nil)
    expectEqual(failed.error, Broken())
  }

  @Test("dismissing an error twice does the same as once, and never takes a value away")
  func dismisses() {
    var animal = Animal("Cat")
    animal.dismissError()
    expectEqual(animal.value, "Cat")
    animal.begin()
    animal.fail(with: Broken())
    animal.dismissError()
    animal.dismissError()
    expectEqual(animal.phase, .loaded("Cat", at: nil))
  }

  @Test("knows the age of a value only if it was said when it came")
  func age() {
    var animal = Animal()
    #expect(animal.age(at: .seconds(9)) == nil)
    animal = Animal("Cat")
    #expect(animal.age(at: .seconds(9)) == nil)
    animal = Animal("Cat", at: .seconds(4))
    expectEqual(animal.age(at: .seconds(9)), .seconds(5))
    animal = Animal()
    animal.begin()
    #expect(animal.age(at: .seconds(9)) == nil)
  }

  @Test("maps the value and the one before, and nothing else")
  func maps() {
    var animal = Animal()
    expectEqual(animal.map(\.count).phase, .idle)
    animal = Animal("Cat", at: .seconds(1))
    expectEqual(animal.map(\.count).phase, .loaded(3, at: .seconds(1)))
    let load = animal.begin()
    var length = animal.map(\.count)
    expectEqual(length.phase, .loading(previous: 3, attempt: 1))
    expectEqual(length.succeed(with: 4, generation: load), true)
    animal.fail(with: Broken())
    expectEqual(animal.map(\.count).phase, .failed(Broken(), previous: 3, attempt: 1))
  }
}
