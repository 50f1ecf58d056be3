import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Result.Publisher")
struct ResultTests {
  @Test("delivers its value and the end upon the first request, whatever its size")
  func delivers() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    Result.success(7).publisher.subscribe(recorder)
    expectEqual(recorder.events, [.subscription])

    recorder.request(.max(2))
    recorder.request(.max(2))
    expectEqual(recorder.events, [.subscription, .value(7), .completion(.finished)])
  }

  @Test("fails at once, without being asked")
  func fails() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    Result.failure(.expected).publisher.subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("is made of a value, an error or a result alike")
  func equality() {
    typealias Publisher = Result<Int, TestFailure>.Publisher
    expectEqual(Publisher(7), Publisher(.success(7)))
    expectEqual(Publisher(TestFailure.expected), Publisher(.failure(.expected)))
    #expect(Publisher(7) != Publisher(8))
    expectEqual(Publisher(TestFailure.other).result, .failure(.other))
  }

  @Test("describes itself as Once, with the value as only child")
  func reflection() {
    let subscription = Result<Int, TestFailure>.success(7).publisher.subscriptionForTesting()
    expectEqual(SelfPortrait(of: subscription), SelfPortrait("Once", labels: [nil]))
  }

  @Test("a request for nothing stops the process")
  func requestNone() async {
    await #expect(processExitsWith: .failure) {
      Result<Int, Never>.success(7).publisher.subscriptionForTesting()?.request(.none)
    }
  }
}
