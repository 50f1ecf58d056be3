import Expectations
import Rebound
import Testing

@Suite("HedgeEvent")
struct HedgeEventTests {
  private static let rows: [(HedgeEvent, String)] = [
    (
      .begins(hedge: 1, because: .delay(.seconds(2)), elapsed: .seconds(3)),
      "hedge 1 begins after 3.0 seconds (delay of 2.0 seconds)"
    ),
    (.begins(hedge: 2, because: .parallel, elapsed: .zero), "hedge 2 begins after 0.0 seconds (parallel)"),
    (.begins(hedge: 2, because: .failure, elapsed: .zero), "hedge 2 begins after 0.0 seconds (failure)"),
    (.refused(.budgetExhausted, elapsed: .zero), "no more hedges after 0.0 seconds (budget exhausted)"),
    (.refused(.hint(.seconds(9)), elapsed: .zero), "no more hedges after 0.0 seconds (asked to wait 9.0 seconds)"),
    (
      .failed(hedge: 0, error: TestFailure.permanent, isFatal: true, elapsed: .zero),
      "primary attempt failed after 0.0 seconds, fatally (permanent)"
    ),
    (
      .failed(hedge: 1, error: TestFailure.transient, isFatal: false, elapsed: .zero),
      "hedge 1 failed after 0.0 seconds (transient)"
    ),
    (.won(hedge: 1, cancelled: [0, 2], elapsed: .zero), "hedge 1 won after 0.0 seconds (cancelled: 2)"),
    (.exhausted(attempts: 3, elapsed: .zero), "all 3 attempts failed after 0.0 seconds"),
  ]

  @Test("is told in one line")
  func descriptions() {
    for (event, text) in Self.rows { expectEqual(event.description, text) }
  }
}
