import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Just")
struct JustTests {
  @Test("delivers its value and the end upon the first request, once")
  func delivers() {
    let recorder = Recorder<Int, Never>(
      requesting: .none,
      answering: { _, recorder in
        recorder.request(.max(1))
        return .max(1)
      }
    )
    Just(7).subscribe(recorder)
    expectEqual(recorder.events, [.subscription])
    recorder.request(.max(1))
    expectEqual(recorder.events, [.subscription, .value(7), .completion(.finished)])
  }

  @Test("sends no end to who cancels from inside the value, and nothing to who cancelled before")
  func cancel() {
    let inside = Recorder<Int, Never>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    Just(7).subscribe(inside)
    expectEqual(inside.events, [.subscription, .value(7)])

    let subscription = Just(7).subscriptionForTesting()
    subscription?.cancel()
    subscription?.request(.max(1))
    expectEqual(SelfPortrait(of: subscription), SelfPortrait("Just", labels: [nil]))
  }

  @Test("lets go of its subscriber after the end")
  func release() {
    weak var released: Recorder<Int, Never>?
    var subscription: (any Subscription)?
    do {
      let recorder = Recorder<Int, Never>(requesting: .none)
      released = recorder
      Just(7).subscribe(recorder)
      subscription = recorder.subscription
      recorder.request(.max(1))
    }
    #expect(released == nil)
    #expect(subscription != nil)
  }
}
