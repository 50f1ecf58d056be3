import Expectations
import Testing

@testable import Combine

@Suite("The inner subscriptions of a flattening operator")
struct InnerSubscriptionsTests {
  @Test("the slot of an inner publisher that has ended is the next one's, and nobody takes one for the other")
  func slots() throws {
    let inners = InnerSubscriptions()
    let outstanding = DemandCounter()
    let firstID = inners.admit(outstanding)
    let otherID = inners.admit(outstanding)
    let (first, other) = (try #require(firstID), try #require(otherID))
    let isFirstRemoved = inners.remove(first)
    let nextID = inners.admit(outstanding)
    let next = try #require(nextID)
    let isFirstRemovedTwice = inners.remove(first)
    let isNextRemoved = inners.remove(next)
    #expect(isFirstRemoved && !isFirstRemovedTwice && isNextRemoved)
    expectEqual(next.index, first.index)
    expectEqual(Set([first.serial, other.serial, next.serial]).count, 3)
  }
}
