import Expectations
import Foundation
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@testable import ReboundHTTP

@Suite("The limits of exchanges that run together")
struct ExchangeDeadlinesTests {
  private final class Carrier: ExchangeCarrier {
    func stop() {}
    func pause() {}
    func resume() {}
  }

  @Test("each limit is kept, in whatever order the exchanges began", arguments: [[9, 2, 5], [2, 5, 9], [5, 9, 2]])
  func order(limits: [Int]) {
    let scheduler = TestScheduler()
    let deadlines = ExchangeDeadlines(scheduler.time)
    let log = ValueLog<String>()
    for seconds in limits {
      let exchange = OngoingExchange(TransportLimits(total: .seconds(seconds)), deadlines) { event in
        if case .failed(let failure) = event { log.append("\(seconds): \(failure.kind == .timeout(.total))") }
      }
      exchange.begin(on: Carrier())
    }
    for second in 1...10 {
      scheduler.advance(by: 1)
      expectEqual(log.values, limits.sorted().filter { $0 <= second }.map { "\($0): true" }, "after \(second) s")
    }
    expectEqual(scheduler.pendingCount, 0)
  }
}
