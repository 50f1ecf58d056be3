import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("min and max")
struct ComparisonTests {
  private typealias Pair = (key: Int, tag: String)

  private func run<P: Publisher>(
    _ operation: (TestPublisher<Pair, TestFailure>) -> P
  ) -> [String] where P.Output == Pair {
    let upstream = TestPublisher<Pair, TestFailure>()
    var tags: [String] = []
    operation(upstream).subscribe(
      AnySubscriber(
        receiveSubscription: { $0.request(.unlimited) },
        receiveValue: {
          tags.append($0.tag)
          return .none
        }
      )
    )
    for pair in [(1, "a"), (2, "b"), (1, "c"), (2, "d")] { upstream.send(pair) }
    upstream.send(completion: .finished)
    return tags
  }

  @Test("of equal values the first is kept")
  func ties() {
    expectEqual(run { $0.min { $0.key < $1.key } }, ["a"])
    expectEqual(run { $0.max { $0.key < $1.key } }, ["b"])
    expectEqual(run { $0.tryMin { $0.key < $1.key } }, ["a"])
    expectEqual(run { $0.tryMax { $0.key < $1.key } }, ["b"])
  }

  @Test("max asks whether the value so far is before the new one, min the other way round")
  func argumentOrder() {
    var calls: [String] = []
    _ = run {
      $0.max {
        calls.append($0.tag + $1.tag)
        return $0.key < $1.key
      }
    }
    expectEqual(calls, ["ab", "bc", "bd"])

    calls = []
    _ = run {
      $0.min {
        calls.append($0.tag + $1.tag)
        return $0.key < $1.key
      }
    }
    expectEqual(calls, ["ba", "ca", "da"])
  }

  @Test("an error thrown cancels the upstream, then fails at once, unasked")
  func throwing() {
    let upstream = TestPublisher<Int, TestFailure>()
    var cancelCountAtEnd = 0
    let recorder = Recorder<Int, any Error>(
      requesting: .none,
      whenCompleted: { cancelCountAtEnd = upstream.cancelCount }
    )
    upstream.tryMax { _, _ in throw TestFailure.expected }.subscribe(recorder)
    upstream.send(1)
    expectEqual(recorder.events.count, 1)
    upstream.send(2)
    #expect(upstream.cancelCount == 1 && cancelCountAtEnd == 1)
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
  }
}
