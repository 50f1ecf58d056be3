import Expectations
import Rebound
import ReboundTesting
import Testing

@testable import ReboundHTTP

@Suite("CallIDs")
struct CallIDsTests {
  @Test("ids have 16 digits of every kind, and none is like another")
  func digits() {
    let ids = CallIDs(.seeded(1))
    let texts = (0..<1_000).map { _ in ids.next() }
    #expect(texts.allSatisfy { $0.count == 16 })
    expectEqual(Set(texts.joined()), Set("0123456789abcdef"))
    expectEqual(Set(texts).count, 1_000)
  }

  @Test("the source of randomness is asked for the first id, not for the others")
  func draws() {
    let draws = Draws()
    let ids = CallIDs(RandomSource { draws.next() })
    expectEqual(draws.count, 0)
    _ = ids.next()
    let count = draws.count
    #expect(count > 0)
    for _ in 0..<100 { _ = ids.next() }
    expectEqual(draws.count, count)
  }

  @Test("the same seed gives the same ids, another seed others")
  func seeds() {
    let (first, same, other) = (CallIDs(.seeded(1)), CallIDs(.seeded(1)), CallIDs(.seeded(2)))
    for _ in 0..<10 {
      let id = first.next()
      expectEqual(id, same.next())
      #expect(id != other.next())
    }
  }
}
