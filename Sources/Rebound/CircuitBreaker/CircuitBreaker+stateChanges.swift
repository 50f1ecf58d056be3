import Combine
import StreamSupport

extension CircuitBreaker {
  /// The state, and then each change of it, also the one from open to half open when nobody calls.
  ///
  /// By itself a breaker finds out with the next call that its open time is over. For a display that is too late; so as
  /// long as somebody observes this, a timer looks as well.
  ///
  /// - Parameter scheduler: Waits until the open time is over.
  public func stateChanges<Context: Scheduler>(on scheduler: Context) -> AnyPublisher<State, Never> {
    let polls =
      stateChanges
      .map { state in HalfOpening(breaker: state == .open ? self : nil, scheduler: scheduler) }
      .switchToLatest()
    return stateChanges.merge(with: polls).eraseToAnyPublisher()
  }
}

/// Publishes nothing, and looks after a breaker that is open until its time is over.
private struct HalfOpening<Context: Scheduler>: Publisher {
  typealias Output = CircuitBreaker.State
  typealias Failure = Never

  /// `nil` if there is nothing to look after.
  let breaker: CircuitBreaker?
  let scheduler: Context

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let watch = HalfOpeningWatch()
    subscriber.receive(subscription: watch)
    guard let breaker, let pause = breaker.metrics.retryAfter else { return }
    watch.keep(scheduler.timer(after: pause, options: nil) { watch.end(polling: breaker) })
  }
}

/// The timer of one opening.
///
/// The lock guards both properties; the timer is cancelled, and the breaker asked, with the lock open.
private final class HalfOpeningWatch: Subscription, CustomStringConvertible {
  private let lock = Lock()
  private var timer: (any Cancellable)?
  private var isOver = false

  var description: String { "HalfOpening" }

  func keep(_ timer: any Cancellable) {
    let isWanted = lock.withLock {
      if !isOver { self.timer = timer }
      return !isOver
    }
    if !isWanted { timer.cancel() }
  }

  func request(_ demand: Subscribers.Demand) {}

  func cancel() {
    end(polling: nil)
  }

  func end(polling breaker: CircuitBreaker?) {
    let (timer, isFirst) = lock.withLock {
      defer { (self.timer, isOver) = (nil, true) }
      return (self.timer, !isOver)
    }
    timer?.cancel()
    if isFirst { breaker?.poll() }
  }
}
