import Expectations
import ReboundStore
import Testing

@Suite("CasePath")
struct CasePathTests {
  @Test("puts a value into its case and takes it out of that one only")
  func bothWays() {
    let path = CasePath(CountAction.add) { if case .add(let number) = $0 { number } else { nil } }
    expectEqual(path.embed(3), .add(3))
    expectEqual(path.extract(.add(3)), 3)
    #expect(path.extract(.begin("a")) == nil)
    #expect(CasePath<Int, Int>.identity.extract(path.extract(.add(4)) ?? 0) == 4)
  }
}
