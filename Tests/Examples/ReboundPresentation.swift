import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundPresentation

// What the examples in the doc comments of ReboundPresentation take for granted. No target: scripts/check-examples
// compiles it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

struct City: Sendable {}

struct API: Sendable {
  func forecast(for _: City) -> AnyPublisher<String, NetworkFailure> { given() }
}

let api = API()
let city = City()
let error: NetworkFailure = given()
var reachability: any Reachability { given() }
var subscriptions: Set<AnyCancellable> {
  get { [] }
  set {}
}
func show<Value>(_: Value) {}
func render<Value>(_: Value) {}

// MARK: What only the examples of one file take for granted

enum PresentationQueueExamples {
  // Examples: @MainActor func body() {%}
  static var id: Int { given() }
}
