import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Fail")
struct FailTests {
  @Test("fails at once, without being asked")
  func fails() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    Fail(error: .expected).subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("hands out the empty subscription")
  func subscription() {
    let publisher = Fail(outputType: Int.self, failure: TestFailure.expected)
    expectEqual(publisher.subscriptionForTesting()?.combineIdentifier, Subscriptions.empty.combineIdentifier)
  }

  @Test("equals another with the same error")
  func equality() {
    expectEqual(Fail(outputType: Int.self, failure: TestFailure.expected), Fail(error: .expected))
    #expect(Fail<Int, TestFailure>(error: .expected) != Fail(error: .other))
  }
}
