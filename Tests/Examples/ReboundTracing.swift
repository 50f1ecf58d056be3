import Foundation
import Rebound
import ReboundHTTP
import ReboundTelemetry
import ReboundTracing

// What the examples in the doc comments of ReboundTracing take for granted. No target: scripts/test-adapters compiles it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

var service: URL { given() }
var transport: any Transport { given() }
var events: PolicyEvents { given() }
