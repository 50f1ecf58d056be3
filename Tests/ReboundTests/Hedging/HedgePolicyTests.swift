import Expectations
import Foundation
import Rebound
import Testing

@Suite("HedgePolicy")
struct HedgePolicyTests {
  private typealias Policy = HedgePolicy<TestFailure>

  @Test("has one hedge after two seconds as its standard")
  func standard() {
    expectEqual(Policy.standard.maxHedges, 1)
    expectEqual(Policy.standard.delay.delay(of: 1), .seconds(2))
  }

  @Test("what is made of all failures has the words for people of the primary attempt's")
  func words() {
    let primary = TimedOut(.attempt, limit: .seconds(1))
    let failed = HedgesFailed<any Error>(errors: [(1, TestFailure.permanent), (0, primary)], underlying: primary)
    expectEqual(failed.localizedDescription, "The service did not answer in time.")
    expectEqual(failed.recoverySuggestion, "Try again.")
  }
}
