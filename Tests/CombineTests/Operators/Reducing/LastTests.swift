import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("last")
struct LastTests {
  @Test("equals another over an equal upstream")
  func equality() {
    expectEqual(Publishers.Last(upstream: Just(1)), Publishers.Last(upstream: Just(1)))
    #expect(Publishers.Last(upstream: Just(1)) != Publishers.Last(upstream: Just(2)))
  }

  @Test("a value that sends another when it goes loses none")
  func deinitSends() {
    final class PassThroughSubscriber {
      let whenGone: () -> Void
      init(whenGone: @escaping () -> Void) { self.whenGone = whenGone }
      deinit { whenGone() }
    }
    let upstream = TestPublisher<PassThroughSubscriber, Never>()
    var last: PassThroughSubscriber? = PassThroughSubscriber {}
    let recorder = Recorder<PassThroughSubscriber, Never>(answering: { value, _ in
      last = value
      return .none
    })
    upstream.last().subscribe(recorder)
    var sent: PassThroughSubscriber? = PassThroughSubscriber {}
    let final = sent
    upstream.send(PassThroughSubscriber { if let final = sent { upstream.send(final) } })
    // Goes when the next one takes its place.
    upstream.send(PassThroughSubscriber {})
    upstream.send(completion: .finished)
    #expect(last === final)
    sent = nil
  }
}
