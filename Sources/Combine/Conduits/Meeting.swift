import StreamSupport
import Synchronization

/// Several upstreams of different types that meet in rows: the heart of `zip` and `combineLatest`.
///
/// Downstream gets its subscription when the last upstream's has come; a failure before that waits for it.
@usableFromInline
class Meeting<R: Row, Downstream: Subscriber>: Confluence where Downstream.Input == R.Output {
  @usableFromInline final let downstream: Downstream
  // Touched only inside the turnstile; nothing foreign runs while it changes.
  @exclusivity(unchecked) @usableFromInline final var row = R()
  // How many inlets nobody has promised anything, see ``Entrusted``.
  @usableFromInline final let distrustedCount: Atomic<Int>
  // Touched only inside the turnstile.
  @exclusivity(unchecked) private final var earlyFailure: Subscribers.Completion<Downstream.Failure>?

  @usableFromInline
  init(inletCount: Int, to downstream: Downstream) {
    self.downstream = downstream
    distrustedCount = Atomic(inletCount)
    super.init(inletCount: inletCount)
  }

  @usableFromInline
  final func receive(subscription: any Subscription, at index: Int) {
    // Inside the turnstile, so that an end on another thread waits until downstream has its subscription.
    guard enter() else { return delegate { [self] in receive(subscription: subscription, at: index) } }
    if hold(subscription.tether, at: index)?.isLast == true {
      downstream.receive(subscription: self)
      if let earlyFailure { end(earlyFailure) } else if isDone { end(.finished) }
    }
    leave()
  }

  @usableFromInline
  final func receive(completion: Subscribers.Completion<Downstream.Failure>, at index: Int) {
    // Inside, so that nobody takes the inlet for used up while a value of it is delegated.
    guard enter() else { return delegate { [self] in receive(completion: completion, at: index) } }
    if finishInlet(index) {
      switch completion {
      case .finished: if !isAwaiting, isDone { end(.finished) }
      case .failure: if isAwaiting { earlyFailure = earlyFailure ?? completion } else { end(completion) }
      }
    }
    leave()
  }

  @usableFromInline
  final func end(_ completion: Subscribers.Completion<Downstream.Failure>) {
    guard end() else { return }
    dropRow()
    downstream.receive(completion: completion)
  }

  /// Whether no row can be completed any more.
  ///
  /// Called inside the turnstile.
  @usableFromInline var isDone: Bool { false }

  @usableFromInline
  override final func runErrand() {
    if ledger.isClosed { dropRow() }
  }

  private final func dropRow() {
    let dropped = row
    row = R()
    withExtendedLifetime(dropped) {}
  }
}

extension Meeting {
  /// Passes the promise on once all upstreams have made it.
  @inlinable
  final func entrustInlet() {
    if distrustedCount.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { entrust(downstream) }
  }
}

/// What one upstream of a ``Meeting`` sees.
@usableFromInline
protocol MeetingPipe: Courier {
  associatedtype R: Row
  associatedtype Failure: Error

  func entrustInlet()

  func receive(subscription: any Subscription, at index: Int)
  func receive<S: Seat>(_ input: S.Input, at seat: S.Type) -> Subscribers.Demand where S.R == R
  func receive(completion: Subscribers.Completion<Failure>, at index: Int)
}

/// The subscriber of one upstream, which knows its column at compile time.
@usableFromInline
struct MeetingInlet<S: Seat, Pipe: MeetingPipe>: Subscriber, CourierSide where S.R == Pipe.R {
  @usableFromInline typealias Input = S.Input
  @usableFromInline typealias Failure = Pipe.Failure

  @usableFromInline let pipe: Pipe
  @usableFromInline let combineIdentifier = CombineIdentifier()

  @inlinable @inline(__always)
  init(_ seat: S.Type, of pipe: Pipe) {
    self.pipe = pipe
  }

  @usableFromInline var courier: Courier { pipe }

  @inlinable
  func receive(subscription: any Subscription) {
    pipe.receive(subscription: subscription, at: S.index)
  }

  @inlinable @inline(__always)
  func receive(_ input: S.Input) -> Subscribers.Demand {
    pipe.receive(input, at: S.self)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    pipe.receive(completion: completion, at: S.index)
  }
}
