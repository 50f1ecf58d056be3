import Combine
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundLoadBalancing
import ReboundOutbox
import ReboundPresentation
import ReboundStore
import ReboundStoreTesting
import ReboundStorm
import ReboundTelemetry
import ReboundTesting
import Testing

/// All modules in one file, as an app has them: a name that two of them have would not compile without its module's.
@Suite("Modules side by side")
struct ModulesTogetherTests {
  private struct Numbered: HTTPMiddleware {
    func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
      next(request)
    }
  }

  @Test("the middleware of a store and that of a client are told apart by their names")
  func middleware() {
    let ofStore: Middleware<Int, String> = { _, action in Just(action + "!").eraseToAnyPublisher() }
    let recorder = Recorder<String, Never>()
    ofStore(0, "load")?.subscribe(recorder)
    #expect(recorder.values == ["load!"])
    let ofClient: any HTTPMiddleware = Numbered()
    #expect(ofClient.place == .adaptation)
  }

  @Test("what goes wrong in a storm and what a server does on purpose are told apart by their names")
  func faults() {
    let ofService = ServiceFault.outage(from: 1, to: 2)
    #expect(ofService.begin == 1)
    let ofServer = Fault("no body", at: .body, [.stall])
    #expect(ofServer.phase == .body)
  }
}
