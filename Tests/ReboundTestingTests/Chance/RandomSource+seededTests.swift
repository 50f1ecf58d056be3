import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("RandomSource, seeded")
struct RandomSourceSeededTests {
  @Test("is a source for a policy, the same for the same seed")
  func sources() {
    let draw = { (source: RandomSource) in (0..<10).map { _ in source.next() } }
    expectEqual(draw(.seeded(3)), draw(.seeded(3)))
    #expect(draw(.seeded(3)) != draw(.seeded(4)))
    expectEqual(draw(.fixed(0.25)), Array(repeating: 0.25, count: 10))
  }
}
