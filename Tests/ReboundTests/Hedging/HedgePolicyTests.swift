import Rebound
import Testing

@Suite("HedgePolicy")
struct HedgePolicyTests {
  private typealias Policy = HedgePolicy<TestFailure>

  @Test("refuses numbers that make no sense, and says what to give instead")
  func refuses() {
    let none = #expect(throws: InvalidHedgePolicy.hedgesOutOfRange(0)) { try Policy(maxHedges: 0) }
    #expect(none?.description == "Hedging: maxHedges is 0. Give 1 to 10; for none, leave the hedging out.")
    #expect(throws: InvalidHedgePolicy.hedgesOutOfRange(11)) { try Policy(maxHedges: 11) }
    let zero = #expect(throws: InvalidHedgePolicy.delayNotPositive(.zero)) { try Policy(delay: .after(.zero)) }
    #expect(
      zero?.description
        == "Hedging: a delay is 0.0 seconds. Give a positive duration, or use .parallel or .afterFailure."
    )
    let recorder = LatencyRecorder()
    let share = #expect(throws: InvalidHedgePolicy.percentileOutOfRange(1)) {
      try Policy(delay: .percentile(1, of: recorder))
    }
    #expect(
      share?.description
        == "Hedging: the percentile is 1.0. Give a number above 0 and below 1; 0.95 hedges the slowest 5 %."
    )
    #expect(throws: InvalidHedgePolicy.delayNotPositive(.zero)) {
      try Policy(delay: .percentile(0.5, of: recorder, atFirst: .zero))
    }
  }

  @Test("has one hedge after two seconds as its standard")
  func standard() {
    #expect(Policy.standard.maxHedges == 1)
    #expect(Policy.standard.delay.delay(of: 1) == .seconds(2))
  }
}
