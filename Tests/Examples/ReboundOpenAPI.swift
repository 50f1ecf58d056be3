import Foundation
import OpenAPIRuntime
import Rebound
import ReboundHTTP
import ReboundOpenAPI

// What the examples in the doc comments of ReboundOpenAPI take for granted. No target: scripts/test-adapters compiles it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

/// As swift-openapi-generator makes it of a description.
struct Client {
  init(serverURL: URL, transport: any ClientTransport, middlewares: [any ClientMiddleware]) {}
}

enum ClientError_networkFailureExamples {
  struct Client {
    func getWeather() async throws -> String { given() }
  }

  static var client: Client { given() }
  static var weather: String {
    get { given() }
    set { _ = newValue }
  }
  static func show(_ text: String?) {}
}

var url: URL { given() }
var transport: any ClientTransport { given() }
var events: PolicyEvents { given() }
var pipeline: Pipeline<OpenAPIAnswer> { given() }
