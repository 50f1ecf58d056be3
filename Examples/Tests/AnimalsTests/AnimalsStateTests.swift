import ReboundStore
import Testing

@testable import Animals

@Suite("AnimalsState")
struct AnimalsStateTests {
  private let dog = Animal(name: "Dog", fact: "It barks.")

  private func state(after actions: [AnimalsAction]) -> AnimalsState {
    actions.reduce(into: AnimalsState()) { AnimalsState.reducer(&$0, $1) }
  }

  @Test("a fetch shows progress, and an animal ends it")
  func success() {
    #expect(state(after: [.fetch]).animal.isLoading)
    let fetched = state(after: [.fetch, .fetched(dog)])
    #expect(fetched.animal.value == dog)
    #expect(!fetched.animal.isLoading)
    #expect(fetched.alerts.current == nil)
  }

  @Test(
    "each kind of failure ends the progress, keeps the animal before, and has an alert of its own",
    arguments: [
      (AnimalFailure.network, "No connection to the zoo"),
      (.unknown(reason: "The animals got loose"), "Something is wrong at the zoo"),
      (.unknown(reason: nil), "Something is wrong at the zoo"),
    ]
  )
  func failure(failure: AnimalFailure, title: String) {
    let failed = state(after: [.fetch, .fetched(dog), .fetch, .failed(failure)])
    #expect(!failed.animal.isLoading)
    #expect(failed.animal.value == dog)
    #expect(failed.animal.error == failure)
    #expect(failed.alerts.current?.alert.title == title)
  }

  @Test("the server's own reason is in the alert")
  func reason() {
    let alert = state(after: [.fetch, .failed(.unknown(reason: "The animals got loose"))]).alerts.current
    #expect(alert?.alert.message.hasPrefix("The animals got loose.") == true)
  }

  @Test("a dismissal clears the error once and for all; a second one, or one of an older alert, does nothing")
  func dismissal() throws {
    let failed = state(after: [.fetch, .failed(.network)])
    let id = try #require(failed.alerts.current?.id)
    let dismissed = state(after: [.fetch, .failed(.network), .dismissAlert(id)])
    #expect(dismissed.alerts.current == nil)
    #expect(dismissed.animal.error == nil)
    #expect(state(after: [.fetch, .failed(.network), .dismissAlert(id), .dismissAlert(id)]) == dismissed)

    let again = state(after: [.fetch, .failed(.network), .dismissAlert(id), .fetch, .failed(.network)])
    let next = try #require(again.alerts.current?.id)
    #expect(next != id)
    #expect(
      state(after: [.fetch, .failed(.network), .dismissAlert(id), .fetch, .failed(.network), .dismissAlert(id)])
        == again
    )
  }

  @Test("an answer that nobody waits for changes nothing")
  func late() {
    #expect(state(after: [.fetched(dog)]) == AnimalsState())
    #expect(state(after: [.failed(.network)]) == AnimalsState())
  }
}
