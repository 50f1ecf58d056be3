import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("DemandLedger")
struct DemandLedgerTests {
  private let scheduler = TestScheduler()
  private let publisher = TestPublisher<Int, Never>()

  @Test("follows requests and values over time")
  func follows() {
    let recorder = Recorder<Int, Never>(
      requesting: .max(1),
      on: scheduler,
      answering: { value, _ in value == 1 ? .max(2) : .none }
    )
    publisher.subscribe(recorder)
    scheduler.advance(by: 1)
    publisher.send(1)
    scheduler.advance(by: 1)
    recorder.request(.max(3))
    publisher.send(2)

    let ledger = recorder.demand
    expectEqual(ledger.requested, .max(6))
    expectEqual(ledger.delivered, 2)
    expectEqual(ledger.outstanding, .max(4))
    expectEqual(ledger.excess, 0)
    expectEqual(
      ledger.entries.map(\.change),
      [
        .requested(.max(1)), .delivered, .requested(.max(2)), .requested(.max(3)), .delivered,
      ]
    )
    expectEqual(ledger.entries.map(\.outstanding), [.max(1), .none, .max(2), .max(5), .max(4)])
    expectEqual(ledger.entries.map(\.time.nanoseconds), [0, 1, 1, 2, 2].map { $0 * 1_000_000_000 })
    expectEqual("\(ledger)", "requested 6, delivered 2, outstanding 4")
  }

  @Test("counts values that nobody asked for, and does not make them good later")
  func excess() {
    let recorder = Recorder<Int, Never>(requesting: .none)
    publisher.subscribe(recorder)
    publisher.send(1)
    recorder.request(.max(2))
    expectEqual(recorder.demand.excess, 1)
    expectEqual(recorder.demand.outstanding, .max(2))
    expectEqual("\(recorder.demand)", "requested 2, delivered 1, outstanding 2, 1 in excess")
  }

  @Test("stays unlimited once it is")
  func unlimited() {
    let recorder = Recorder<Int, Never>()
    publisher.subscribe(recorder)
    for value in 0..<3 { publisher.send(value) }
    expectEqual(recorder.demand.outstanding, .unlimited)
    expectEqual("\(recorder.demand)", "requested unlimited, delivered 3, outstanding unlimited")
  }

  @Test("knows nothing of requests that had no subscription to go to")
  func withoutSubscription() {
    let recorder = Recorder<Int, Never>(requesting: .none, on: scheduler)
    recorder.request(.max(1))
    publisher.subscribe(recorder)
    scheduler.advance(by: 2)
    recorder.cancel()
    recorder.request(.max(1))
    #expect(recorder.demand.entries.isEmpty)
    expectEqual(recorder.cancelTime, .start.advanced(by: 2))
  }
}
