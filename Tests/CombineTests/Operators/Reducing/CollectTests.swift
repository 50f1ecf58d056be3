import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("collect")
struct CollectTests {
  @Test("a hundred thousand values come in one array, in order")
  func many() {
    let upstream = PassthroughSubject<Int, Never>()
    let recorder = Recorder<[Int], Never>()
    upstream.collect().subscribe(recorder)
    for value in 0..<100_000 { upstream.send(value) }
    upstream.send(completion: .finished)
    expectEqual(recorder.values, [Array(0..<100_000)])
  }

  @Test("shows how many values there are so far")
  func reflection() {
    let upstream = TestPublisher<Int, Never>()
    let subscription = upstream.collect().subscriptionForTesting()
    expectEqual(toldText("count", of: subscription), "0")
    upstream.send(1)
    upstream.send(2)
    expectEqual(toldText("count", of: subscription), "2")
  }

  @Test("equals another over an equal upstream")
  func equality() {
    expectEqual(Publishers.Collect(upstream: Just(1)), Publishers.Collect(upstream: Just(1)))
    #expect(Publishers.Collect(upstream: Just(1)) != Publishers.Collect(upstream: Just(2)))
  }
}
