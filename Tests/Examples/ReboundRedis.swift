import Combine
import Foundation
import Rebound
import ReboundRedis

// What the examples in the doc comments of ReboundRedis take for granted. No target: scripts/check-examples compiles it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

struct Forecast: Codable, Hashable, Sendable {}

struct Token: Codable, Hashable, Sendable {}

struct Client: Sendable {
  func search(_: String) async throws -> [String] { given() }
}

var client: Client { given() }
var fleet: Fleet { given() }
var text: String { given() }

func renew(_: TokenRefresher<Token>.Refresh) async -> RefreshOutcome<Token> { given() }

enum FleetCacheStorageExamples {
  static var policy: CachePolicy { given() }
}

enum FleetRetryAccountExamples {
  // Examples: try Pipeline<Forecast>("example") { % }
}
