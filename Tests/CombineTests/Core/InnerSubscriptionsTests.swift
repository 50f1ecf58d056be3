import Testing

@testable import Combine

@Suite("The inner subscriptions of a flattening operator")
struct InnerSubscriptionsTests {
  @Test("the slot of an inner publisher that has ended is the next one's, and nobody takes one for the other")
  func slots() throws {
    let inners = InnerSubscriptions()
    let first = try #require(inners.admitInner())
    let other = try #require(inners.admitInner())
    #expect(inners.removeInner(first))
    let next = try #require(inners.admitInner())
    #expect(next.index == first.index)
    #expect(Set([first.serial, other.serial, next.serial]).count == 3)
    #expect(!inners.removeInner(first))
    #expect(inners.removeInner(next))
  }
}
