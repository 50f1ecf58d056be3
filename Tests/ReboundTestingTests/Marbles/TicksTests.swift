import Expectations
import Testing

@testable import ReboundTesting

@Suite("Ticks")
struct TicksTests {
  @Test("are seconds, as durations and as strides")
  func seconds() {
    expectEqual(Duration.ticks(3), .seconds(3))
    expectEqual(VirtualTime.Stride.ticks(3), .seconds(3))
  }

  @Test(
    "last to the nanosecond, also after many years",
    arguments: [(9_999_999_999_999_999, 9_999_999), (-1, -1), (-1_000_000_000, -1)]
  )
  func lastNanosecond(nanoseconds: Int, frame: Int) {
    expectEqual(VirtualTime(nanoseconds: nanoseconds).frame, frame)
  }
}
