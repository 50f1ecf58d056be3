import Expectations
import Rebound
import Testing

@Suite("HedgeDelay")
struct HedgeDelayTests {
  private let recorder = LatencyRecorder(minimumCount: 2)

  @Test("says for each hedge how long to wait, or that it only begins after a failure")
  func delays() {
    expectEqual(HedgeDelay.after(.seconds(3)).delay(of: 1), .seconds(3))
    expectEqual(HedgeDelay.parallel.delay(of: 1), .zero)
    #expect(HedgeDelay.afterFailure.delay(of: 1) == nil)
    let custom = HedgeDelay.custom { $0 == 1 ? .seconds(1) : $0 == 2 ? .seconds(-1) : nil }
    expectEqual((1...3).map { custom.delay(of: $0) }, [.seconds(1), .zero, nil])
  }

  @Test("waits as long as most calls of late took, and for a fixed time while too few are known")
  func percentile() {
    let delay = HedgeDelay.percentile(0.5, of: recorder, atFirst: .seconds(9))
    recorder.record(.seconds(1))
    expectEqual(delay.delay(of: 1), .seconds(9))
    recorder.record(.seconds(2))
    expectEqual(delay.delay(of: 1), .seconds(1))
  }
}
