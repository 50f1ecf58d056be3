import Rebound
import Testing

@Suite("HedgePolicy")
struct HedgePolicyTests {
  private typealias Policy = HedgePolicy<TestFailure>

  @Test("has one hedge after two seconds as its standard")
  func standard() {
    #expect(Policy.standard.maxHedges == 1)
    #expect(Policy.standard.delay.delay(of: 1) == .seconds(2))
  }
}
