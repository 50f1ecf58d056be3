import Expectations
import Testing

@testable import ReboundHTTP

@Suite("Boxed")
struct BoxedTests {
  private final class Part: Sendable {}

  @Test("a copy is changed by itself, whichever of the two is changed first")
  func copies() {
    var (first, second) = (Boxed([1]), Boxed([0]))
    second = first
    first.value.append(2)
    second.value.append(3)
    first.value.append(4)
    expectEqual(first.value, [1, 2, 4])
    expectEqual(second.value, [1, 3])
  }

  @Test("what is replaced is let go of at once")
  func releases() {
    weak var part: Part?
    var boxed: Boxed<Part?>
    do {
      let made = Part()
      part = made
      boxed = Boxed(made)
    }
    boxed.value = nil
    #expect(part == nil)
  }
}
