import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting

// What the examples in the doc comments of ReboundHTTPTesting take for granted. No target: scripts/check-examples compiles
// it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

let server: MisbehavingServer = given()
let transport: any Transport = given()
let request: TransportRequest = given()

struct MyTransport: Transport {
  let time: TimeSource
  let reachability: any Reachability

  func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange { given() }
}
