import ReboundTesting
import Testing

@Suite("Ticks")
struct TicksTests {
  @Test("are seconds, as durations and as strides")
  func seconds() {
    #expect(Duration.ticks(3) == .seconds(3))
    #expect(VirtualTime.Stride.ticks(3) == .seconds(3))
  }
}
