import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("LatencyRecorder")
struct LatencyRecorderTests {
  @Test("has no estimate before it knows enough")
  func minimum() {
    let recorder = LatencyRecorder(capacity: 10, minimumCount: 3)
    for second in 1...2 { recorder.record(.seconds(second)) }
    #expect(recorder.percentile(0.5) == nil)
    recorder.record(.seconds(3))
    expectEqual(recorder.percentile(0.5), .seconds(2))
  }

  @Test(
    "names the smallest latency that the share of the calls did not exceed",
    arguments: [
      (0.95, 95), (0.07, 7), (0.5, 50), (0.501, 51), (1, 100), (0, 1), (-1, 1), (2, 100), (.nan, 1), (.infinity, 100),
    ]
  )
  func rank(share: Double, seconds: Int) {
    let recorder = LatencyRecorder(capacity: 100, minimumCount: 1)
    var random = SeededRandom(seed: 1)
    for second in (1...100).shuffled(using: &random) { recorder.record(.seconds(second)) }
    expectEqual(recorder.percentile(share), .seconds(seconds))
  }

  @Test("looks at the last latencies only")
  func ring() {
    let recorder = LatencyRecorder(capacity: 3, minimumCount: 0)
    for second in [100, 90, 80, 1, 2] { recorder.record(.seconds(second)) }
    expectEqual(recorder.count, 3)
    expectEqual(recorder.percentile(1), .seconds(80))
    recorder.record(.seconds(3))
    expectEqual(recorder.percentile(1), .seconds(3))
  }

  @Test("keeps one latency at least")
  func smallest() {
    let recorder = LatencyRecorder(capacity: 0, minimumCount: 9)
    recorder.record(.seconds(1))
    expectEqual(recorder.percentile(0.5), .seconds(1))
  }

  @Test("takes no memory for latencies that have not come, however many may")
  func endless() {
    let recorder = LatencyRecorder(capacity: .max, minimumCount: 1)
    for second in 1...3 { recorder.record(.seconds(second)) }
    expectEqual(recorder.percentile(1), .seconds(3))
  }
}
