import ReboundTesting
import Testing

@Suite("VirtualTime")
struct VirtualTimeTests {
  private typealias Stride = VirtualTime.Stride

  @Test("counts literals in seconds, as Combine's schedulers do")
  func literals() {
    #expect(2 as Stride == .seconds(2))
    #expect(0.25 as Stride == .milliseconds(250))
    #expect(Stride(exactly: 3 as UInt8) == .seconds(3))
    #expect(Stride(exactly: UInt64.max) == nil)
    #expect(Stride.seconds(1.5) == .milliseconds(1_500))
    #expect(Stride.microseconds(5) == .nanoseconds(5_000))
  }

  @Test("converts to durations and back")
  func durations() {
    #expect(Stride(.milliseconds(1_250)) == 1.25)
    #expect(Stride(.milliseconds(-1_250)) == -1.25)
    #expect((1.25 as Stride).duration == .milliseconds(1_250))
    #expect(Stride(.seconds(Int64.max)).nanoseconds == .max)
    #expect(Stride(.seconds(Int64.min)).nanoseconds == .min)
    #expect(Stride(Duration.seconds(Int64.max) * 2).nanoseconds == .max)
    #expect(Stride(Duration.seconds(Int64.min) * 2).nanoseconds == .min)
    for edge in [Int.max, .max - 1, .min, .min + 1] { #expect(Stride(.nanoseconds(edge)).nanoseconds == edge) }
  }

  @Test("adds, subtracts, multiplies and compares")
  func arithmetic() {
    #expect((1 as Stride) + 2 == 3)
    #expect((1 as Stride) - 2 == -1)
    #expect((2 as Stride) * 1.5 == 3)
    #expect((1 as Stride) < 2)
    #expect((-3 as Stride).magnitude == 3_000_000_000)
    var product: Stride = 2
    product *= 3
    #expect(product == 6)
  }

  @Test("saturates instead of overflowing")
  func saturates() {
    let (longest, shortest) = (Stride.nanoseconds(.max), Stride.nanoseconds(.min))
    #expect(longest + 1 == longest)
    #expect(shortest - 1 == shortest)
    #expect(shortest + -1 == shortest)
    #expect(longest * longest == longest)
    #expect(longest * shortest == shortest)
    #expect(Stride.seconds(Int.max) == longest)
    #expect(Stride.milliseconds(.min) == shortest)
    #expect(Stride.seconds(Double.infinity) == longest)
    #expect(Stride.seconds(-Double.infinity) == shortest)
    #expect(Stride.seconds(Double.nan) == 0)
    #expect(VirtualTime(nanoseconds: .max).advanced(by: 1) == VirtualTime(nanoseconds: .max))
    #expect(VirtualTime(nanoseconds: .min).distance(to: VirtualTime(nanoseconds: .max)) == longest)
    #expect(VirtualTime(nanoseconds: .max).distance(to: VirtualTime(nanoseconds: .min)) == shortest)
  }

  @Test("moves by strides")
  func moves() {
    #expect(VirtualTime.start.advanced(by: 1.5) == VirtualTime(nanoseconds: 1_500_000_000))
    #expect(VirtualTime(nanoseconds: 5).distance(to: VirtualTime(nanoseconds: 2)) == .nanoseconds(-3))
    #expect(VirtualTime.start < VirtualTime(nanoseconds: 1))
  }

  @Test("reads in seconds")
  func describes() {
    #expect("\(VirtualTime(nanoseconds: 1_500_000_000))" == "1.5 s")
    #expect("\(-0.25 as Stride)" == "-0.25 s")
  }
}
