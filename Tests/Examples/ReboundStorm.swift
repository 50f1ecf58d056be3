import Combine
import Rebound
import ReboundLoadBalancing
import ReboundStorm
import Testing

// What the examples in the doc comments of ReboundStorm take for granted. No target: scripts/check-examples compiles it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

struct Forecast: Sendable {}

let scenario: Scenario = given()
let outage: Scenario = given()
let brownout: Scenario = given()
let unseenScenarios: [Scenario] = given()
let settings: PolicySettings = given()
let storm: Storm = given()
let policy: RetryPolicy<any Error> = given()
let budget: RetryBudget = given()
let breaker: CircuitBreakerPolicy = given()

func pipeline(_ process: ClientProcess) throws -> Pipeline<Void> { given() }
