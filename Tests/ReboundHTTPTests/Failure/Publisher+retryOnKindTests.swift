import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import Testing

@Suite("retry(on: kind)")
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
    expectEqual(test.transport.count, attempts)
    expectEqual(refreshes, retries)
    expectEqual(recorder.failure?.kind, .unauthorised)
  }

  @Test("recover(from: kind) goes on with another publisher, for this kind only")
  func recovers() throws {
    let test = ClientUnderTest([.status(404), .status(403)])
    let recorders = (0..<2).map { _ in Recorder<Place, NetworkFailure>() }
    for recorder in recorders {
      test.client.publisher(for: Forecast(city: "Rome"))
        .recover(from: .notFound) { failure in
          Empty<Place, NetworkFailure>(completeImmediately: failure.status == 404)
        }
        .subscribe(recorder)
      try test.scheduler.run()
    }
    #expect(recorders[0].isFinished)
    expectEqual(recorders[1].failure?.kind, .forbidden)
  }

  @Test("another kind passes on at once")
  func others() throws {
    let test = ClientUnderTest([.status(403)])
    let recorder = Recorder<Place, NetworkFailure>()
    test.client.publisher(for: Forecast(city: "Rome"))
      .retry(on: .unauthorised, times: 3) { _ in Empty<Void, NetworkFailure>() }
      .subscribe(recorder)
    try test.scheduler.run()
    expectEqual(recorder.failure?.kind, .forbidden)
    expectEqual(test.transport.count, 1)
  }
}
