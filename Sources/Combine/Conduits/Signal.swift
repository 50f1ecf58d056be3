import StreamSupport

/// A pipe that another publisher can trigger, beside the upstream that its values come from.
@usableFromInline
protocol Signalled: Subscription {
  associatedtype SignalFailure: Error

  /// What Apple's Combine calls the operator.
  var name: String { get }

  /// Holds the subscription to the trigger.
  var trigger: Link { get }

  /// Called at most once, when the trigger publishes something.
  func signal()

  /// Called at most once, when the trigger ends without having published anything.
  func signalEnded(_ completion: Subscribers.Completion<SignalFailure>)
}

/// Waits for one value of a trigger, and tells its pipe.
///
/// It lets go of the pipe and leaves the trigger as soon as it has told it. Apple's Combine only lets go of the trigger's
/// subscription, which then stays with a trigger that lives on.
@usableFromInline
final class Signal<Input, Pipe: Signalled>: Subscriber, CustomStringConvertible, CustomReflectable,
  CustomPlaygroundDisplayConvertible
{
  @usableFromInline typealias Failure = Pipe.SignalFailure

  /// That of the pipe.
  @usableFromInline let combineIdentifier: CombineIdentifier

  private let lock = Lock()
  // Guarded by `lock`.
  @exclusivity(unchecked) private var pipe: Pipe?

  @usableFromInline
  init(to pipe: Pipe) {
    self.pipe = pipe
    combineIdentifier = pipe.combineIdentifier
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
    tell { pipe, subscription in
      // A trigger may live on, and be used again and again: what has fired must not stay with it.
      subscription?.cancel()
      pipe.signal()
    }
    return .none
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Failure>) {
    tell { pipe, _ in pipe.signalEnded(completion) }
  }

  private func tell(_ event: (Pipe, Tether?) -> Void) {
    lock.lock()
    // Only a trigger that is held may signal; a pipe that is over has let go of it.
    guard let pipe, pipe.trigger.isHolding else {
      lock.unlock()
      return
    }
    self.pipe = nil
    lock.unlock()
    event(pipe, pipe.trigger.end())
  }

  // MARK: Reflection

  @usableFromInline var description: String { lock.withLock { pipe }?.name ?? "\(type(of: self))" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline var customMirror: Mirror { Mirror(self, children: [:]) }
}
