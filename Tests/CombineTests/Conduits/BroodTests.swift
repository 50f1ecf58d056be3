import Testing

@testable import Combine

@Suite("The children of a flattening operator")
struct BroodTests {
  @Test("the place of a child that has ended is the next one's, and nobody takes one for the other")
  func places() throws {
    let brood = Brood()
    let first = try #require(brood.admitChild())
    let other = try #require(brood.admitChild())
    #expect(brood.removeChild(first))
    let next = try #require(brood.admitChild())
    #expect(next.index == first.index)
    #expect(Set([first.serial, other.serial, next.serial]).count == 3)
    #expect(!brood.removeChild(first))
    #expect(brood.removeChild(next))
  }
}
