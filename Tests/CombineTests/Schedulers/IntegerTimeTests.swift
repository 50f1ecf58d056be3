import Expectations
import Testing

@testable import Combine

@Suite("Whole numbers of time units")
struct IntegerTimeTests {
  @Test("a floating-point number loses its fraction, and one that does not fit becomes the nearest that does")
  func clamps() {
    expectEqual(Int(clamping: 1.9), 1)
    expectEqual(Int(clamping: -1.9), -1)
    expectEqual(Int(clamping: 1e300), .max)
    expectEqual(Int(clamping: -Double.infinity), .min)
    expectEqual(Int(clamping: Double.nan), 0)
  }

  @Test("sums, differences and products stop at the ends of the range")
  func arithmetic() {
    expectEqual(Int.max.addingClamped(1), .max)
    expectEqual(Int.min.addingClamped(-1), .min)
    expectEqual(3.addingClamped(4), 7)
    expectEqual(Int.min.subtractingClamped(1), .min)
    expectEqual(Int.max.subtractingClamped(-1), .max)
    expectEqual(3.subtractingClamped(4), -1)
    expectEqual(Int.max.multipliedClamped(by: 2), .max)
    expectEqual(Int.max.multipliedClamped(by: -2), .min)
    expectEqual((-3).multipliedClamped(by: 4), -12)
  }
}
