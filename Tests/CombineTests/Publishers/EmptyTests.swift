import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Empty")
struct EmptyTests {
  @Test("ends at once, without being asked")
  func ends() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    Empty().subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("never ends if told not to")
  func neverEnds() {
    let recorder = Recorder<Int, TestFailure>()
    Empty(completeImmediately: false).subscribe(recorder)
    expectEqual(recorder.events, [.subscription])
  }

  @Test("ends even for a subscriber that cancels at once")
  func endsAfterCancel() {
    var endings = 0
    Empty(outputType: Int.self, failureType: TestFailure.self)
      .subscribe(AnySubscriber(receiveSubscription: { $0.cancel() }, receiveCompletion: { _ in endings += 1 }))
    expectEqual(endings, 1)
  }

  @Test("hands out the empty subscription")
  func subscription() {
    let publisher = Empty<Int, Never>(completeImmediately: false)
    expectEqual(publisher.subscriptionForTesting()?.combineIdentifier, Subscriptions.empty.combineIdentifier)
    expectEqual(SelfPortrait(of: publisher.subscriptionForTesting()), SelfPortrait("Empty", labels: []))
  }

  @Test("equals another that ends in the same way")
  func equality() {
    #expect(Empty<Int, Never>() == Empty(completeImmediately: true, outputType: Int.self, failureType: Never.self))
    #expect(Empty<Int, Never>() != Empty(completeImmediately: false))
  }
}
