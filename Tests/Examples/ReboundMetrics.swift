import Combine
import Foundation
import Metrics
import Rebound
import ReboundHTTP
import ReboundMetrics
import ReboundTelemetry

// What the examples in the doc comments of ReboundMetrics take for granted. No target: scripts/test-adapters compiles it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

var service: URL { given() }
var transport: any Transport { given() }
var events: PolicyEvents { given() }
var subscriptions: Set<AnyCancellable> {
  get { given() }
  set { _ = newValue }
}
