import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

// What the examples in the doc comments of ReboundHTTPTesting take for granted. No target: scripts/check-examples compiles
// it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

let service = URL(fileURLWithPath: "")
var scheduler: TestScheduler { given() }
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

// MARK: What only the examples of one file take for granted

enum CassetteRuleExamples {
  static var file: URL { given() }
}

enum TLSTerminatorExamples {
  struct Terminator: TLSTerminator {
    let authority: URL
    func listen(before port: UInt16, offering protocols: [String]) async throws -> any TLSListener { given() }
  }
  static var terminator: Terminator { given() }
  struct MyTransport: Transport {
    init(time: TimeSource, reachability: any Reachability, trusting authority: URL) {}
    func start(
      _ request: TransportRequest,
      telling receiver: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange { given() }
  }
}

enum CassetteTransportExamples {
  static var file: URL { given() }
}

enum ScriptedTransportExamples {
  struct Forecast: Request {
    var path: RequestPath { "forecast" }
    typealias Response = Data
  }
  static let retrying: Retrying = given()
  static var recorder: Recorder<Data, NetworkFailure> { given() }
}

enum RecordedFailureExamples {
  static var log: HARLog { given() }
  static var decisions: PolicyEventLog { given() }
  static var folder: URL { given() }
  static var error: any Error { given() }
}
