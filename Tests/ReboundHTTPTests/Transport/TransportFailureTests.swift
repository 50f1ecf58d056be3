import Expectations
import Foundation
import ReboundHTTP
import Testing

@Suite("TransportFailure")
struct TransportFailureTests {
  @Test(
    "met alone, it says to people what a client's failure for it says",
    arguments: [.offline, .connect, .tls(.notPinned), .proxy(.unreachable), .timeout(.total), .body, .other]
      as [TransportFailure.Kind]
  )
  func words(kind: TransportFailure.Kind) {
    let (alone, clients) = (TransportFailure(kind), NetworkFailure(.transport(kind)))
    expectEqual(alone.localizedDescription, clients.localizedDescription)
    expectEqual(alone.failureReason, clients.failureReason)
    expectEqual(alone.recoverySuggestion, clients.recoverySuggestion)
    #expect(alone.recoverySuggestion != nil)
  }
}
