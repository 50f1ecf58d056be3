import StreamSupport

/// A pipe that another publisher can trigger, beside the upstream that its values come from.
@usableFromInline
protocol Signalled: AnyObject {
  associatedtype SignalFailure: Error

  /// Holds the subscription to the trigger.
  var trigger: Link { get }

  /// Called at most once, when the trigger publishes something.
  func signal()

  /// Called at most once, when the trigger ends without having published anything.
  func signalEnded(_ completion: Subscribers.Completion<SignalFailure>)
}

/// Waits for one value of a trigger, and tells its pipe.
///
/// It lets go of the pipe as soon as it has told it: the trigger, which may live on, then keeps nothing but this.
@usableFromInline
final class Signal<Input, Pipe: Signalled>: Subscriber {
  @usableFromInline typealias Failure = Pipe.SignalFailure

  private let lock = Lock()
  // Guarded by `lock`.
  @exclusivity(unchecked) private var pipe: Pipe?

  @usableFromInline
  init(to pipe: Pipe) {
    self.pipe = pipe
  }

  @usableFromInline
  func receive(subscription: any Subscription) {
    guard let pipe = lock.withLock({ self.pipe }) else {
      subscription.cancel()
      return
    }
    if pipe.trigger.hold(subscription) { subscription.request(.max(1)) }
  }

  @usableFromInline
  func receive(_ input: Input) -> Subscribers.Demand {
    tell { $0.signal() }
    return .none
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Failure>) {
    tell { $0.signalEnded(completion) }
  }

  private func tell(_ event: (Pipe) -> Void) {
    lock.lock()
    // Only a trigger that is held may signal; a pipe that is over has let go of it.
    guard let pipe, pipe.trigger.isHolding else {
      lock.unlock()
      return
    }
    self.pipe = nil
    lock.unlock()
    // The subscription has done its work; releasing it, not cancelling, is what Apple's Combine does.
    withExtendedLifetime(pipe.trigger.end()) {}
    event(pipe)
  }
}
