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

var url: URL { given() }
var transport: any ClientTransport { given() }
var events: PolicyEvents { given() }
var pipeline: Pipeline<OpenAPIAnswer> { given() }
