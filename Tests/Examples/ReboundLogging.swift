import Combine
import Foundation
import Logging
import Rebound
import ReboundHTTP
import ReboundLogging

// What the examples in the doc comments of ReboundLogging take for granted. No target: scripts/test-adapters compiles it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

extension Logger {
  /// As the real one has it, and the stand-in has not.
  init(label: String) { self.init(label: label) { _ in given() } }
}

var service: URL { given() }
var transport: any Transport { given() }
var events: PolicyEvents { given() }
var subscriptions: Set<AnyCancellable> {
  get { given() }
  set { _ = newValue }
}
