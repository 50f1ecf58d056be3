import Testing

@testable import Combine

@Suite("Whole numbers of time units")
struct IntegerTimeTests {
  @Test("a floating-point number loses its fraction, and one that does not fit becomes the nearest that does")
  func clamps() {
    #expect(Int(clamping: 1.9) == 1)
    #expect(Int(clamping: -1.9) == -1)
    #expect(Int(clamping: 1e300) == .max)
    #expect(Int(clamping: -Double.infinity) == .min)
    #expect(Int(clamping: Double.nan) == 0)
  }

  @Test("sums, differences and products stop at the ends of the range")
  func arithmetic() {
    #expect(Int.max.addingClamped(1) == .max)
    #expect(Int.min.addingClamped(-1) == .min)
    #expect(3.addingClamped(4) == 7)
    #expect(Int.min.subtractingClamped(1) == .min)
    #expect(Int.max.subtractingClamped(-1) == .max)
    #expect(3.subtractingClamped(4) == -1)
    #expect(Int.max.multipliedClamped(by: 2) == .max)
    #expect(Int.max.multipliedClamped(by: -2) == .min)
    #expect((-3).multipliedClamped(by: 4) == -12)
  }
}
