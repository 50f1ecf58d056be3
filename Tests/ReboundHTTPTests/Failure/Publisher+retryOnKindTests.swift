import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import Testing

@Suite("[W] retry(on: kind)")
struct RetryOnKindTests {
  @Test("runs the other publisher before each retry, for this kind only", arguments: [(1, 2), (3, 4)])
  func kinds(retries: Int, attempts: Int) throws {
    let test = ClientUnderTest([.status(401)], repeatingLast: true)
    var refreshes = 0
    let recorder = Recorder<Place, NetworkFailure>()
    test.client.publisher(for: Forecast(city: "Rome"))
      .retry(on: .unauthorised, times: retries) { _ in
        refreshes += 1
        return Just(()).setFailureType(to: NetworkFailure.self)
      }
      .subscribe(recorder)
    try test.scheduler.run()
    #expect(test.transport.count == attempts)
    #expect(refreshes == retries)
    #expect(recorder.failure?.kind == .unauthorised)
  }

  @Test("another kind passes on at once")
  func others() throws {
    let test = ClientUnderTest([.status(403)])
    let recorder = Recorder<Place, NetworkFailure>()
    test.client.publisher(for: Forecast(city: "Rome"))
      .retry(on: .unauthorised, times: 3) { _ in Empty<Void, NetworkFailure>() }
      .subscribe(recorder)
    try test.scheduler.run()
    #expect(recorder.failure?.kind == .forbidden)
    #expect(test.transport.count == 1)
  }
}
