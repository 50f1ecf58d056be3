import Expectations
import ReboundTesting
import Testing

@Suite("VirtualTime")
struct VirtualTimeTests {
  private typealias Stride = VirtualTime.Stride

  @Test("counts literals in seconds, as Combine's schedulers do")
  func literals() {
    expectEqual(2 as Stride, .seconds(2))
    expectEqual(0.25 as Stride, .milliseconds(250))
    expectEqual(Stride(exactly: 3 as UInt8), .seconds(3))
    #expect(Stride(exactly: UInt64.max) == nil)
    expectEqual(Stride.seconds(1.5), .milliseconds(1_500))
    expectEqual(Stride.microseconds(5), .nanoseconds(5_000))
  }

  @Test("converts to durations and back")
  func durations() {
    expectEqual(Stride(.milliseconds(1_250)), 1.25)
    expectEqual(Stride(.milliseconds(-1_250)), -1.25)
    expectEqual((1.25 as Stride).duration, .milliseconds(1_250))
    expectEqual(Stride(.seconds(Int64.max)).nanoseconds, .max)
    expectEqual(Stride(.seconds(Int64.min)).nanoseconds, .min)
    expectEqual(Stride(Duration.seconds(Int64.max) * 2).nanoseconds, .max)
    expectEqual(Stride(Duration.seconds(Int64.min) * 2).nanoseconds, .min)
    for edge in [Int.max, .max - 1, .min, .min + 1] { expectEqual(Stride(.nanoseconds(edge)).nanoseconds, edge) }
  }

  @Test("adds, subtracts, multiplies and compares")
  func arithmetic() {
    expectEqual((1 as Stride) + 2, 3)
    expectEqual((1 as Stride) - 2, -1)
    expectEqual((2 as Stride) * 1.5, 3)
    #expect((1 as Stride) < 2)
    expectEqual((-3 as Stride).magnitude, 3_000_000_000)
    var product: Stride = 2
    product *= 3
    expectEqual(product, 6)
  }

  @Test("saturates instead of overflowing")
  func saturates() {
    let (longest, shortest) = (Stride.nanoseconds(.max), Stride.nanoseconds(.min))
    expectEqual(longest + 1, longest)
    expectEqual(shortest - 1, shortest)
    expectEqual(shortest + -1, shortest)
    expectEqual(longest * longest, longest)
    expectEqual(longest * shortest, shortest)
    expectEqual(Stride.seconds(Int.max), longest)
    expectEqual(Stride.milliseconds(.min), shortest)
    expectEqual(Stride.seconds(Double.infinity), longest)
    expectEqual(Stride.seconds(-Double.infinity), shortest)
    expectEqual(Stride.seconds(Double.nan), 0)
    expectEqual(VirtualTime(nanoseconds: .max).advanced(by: 1), VirtualTime(nanoseconds: .max))
    expectEqual(VirtualTime(nanoseconds: .min).distance(to: VirtualTime(nanoseconds: .max)), longest)
    expectEqual(VirtualTime(nanoseconds: .max).distance(to: VirtualTime(nanoseconds: .min)), shortest)
  }

  @Test("moves by strides")
  func moves() {
    expectEqual(VirtualTime.start.advanced(by: 1.5), VirtualTime(nanoseconds: 1_500_000_000))
    expectEqual(VirtualTime(nanoseconds: 5).distance(to: VirtualTime(nanoseconds: 2)), .nanoseconds(-3))
    #expect(VirtualTime.start < VirtualTime(nanoseconds: 1))
  }

  @Test("reads in seconds")
  func describes() {
    expectEqual("\(VirtualTime(nanoseconds: 1_500_000_000))", "1.5 s")
    expectEqual("\(-0.25 as Stride)", "-0.25 s")
  }
}
