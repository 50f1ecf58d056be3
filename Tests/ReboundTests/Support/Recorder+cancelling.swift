import Combine
import ReboundTesting
import StreamSupport

extension Recorder {
  /// Records what comes, and cancels from inside the completion.
  var cancellingAtItsEnd: AnySubscriber<Input, Failure> {
    let kept = Locked<(any Subscription)?>(nil)
    return AnySubscriber(
      receiveSubscription: { subscription in
        kept.withLock { $0 = subscription }
        self.receive(subscription: subscription)
      },
      receiveValue: { self.receive($0) },
      receiveCompletion: { completion in
        kept.exchange(nil)?.cancel()
        self.receive(completion: completion)
      }
    )
  }
}
