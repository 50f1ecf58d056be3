import Logging
import Rebound
import ReboundOutbox
import ReboundRedis
import ReboundServiceLifecycle
import ReboundTelemetry
import ServiceLifecycle

// What the examples in the doc comments of ReboundServiceLifecycle take for granted. No target: scripts/test-adapters compiles it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

/// With the signature of the real one, which the stand-in has not.
actor ServiceGroup {
  enum UnixSignal {
    case sigterm
  }

  init(services: [any Service], gracefulShutdownSignals: [UnixSignal] = [], logger: Logger) {}

  func run() async throws {}
}

struct Order: Codable, Sendable {}

var orders: Outbox<Order> { given() }
var server: any Service { given() }
var logger: Logger { given() }
var session: TokenRefresher<String> { given() }
var fleet: Fleet { given() }
var lines: JSONLines { given() }
var journalFile: JournalFile { given() }

struct JournalFile: Sendable {
  func append(_ line: String) {}
}
