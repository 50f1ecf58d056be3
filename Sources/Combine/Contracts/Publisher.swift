import Synchronization

/// A recipe for a sequence of values over time, which ends with a completion or never.
///
/// A publisher does nothing until a subscriber subscribes, and sends no more values than the subscriber asked for.
public protocol Publisher<Output, Failure> {
  /// The kind of values published.
  associatedtype Output

  /// The kind of error that can end the sequence; `Never` if none can.
  associatedtype Failure: Error

  /// Attaches a subscriber: it gets a subscription first, then values up to its demand, then at most one completion.
  ///
  /// Implemented by publishers, called through ``subscribe(_:)->()``.
  func receive<S>(subscriber: consuming S) where S: Subscriber, Failure == S.Failure, Output == S.Input
}

extension Publisher {
  /// Attaches a subscriber to this publisher.
  ///
  /// - Parameter subscriber: gets a subscription before anything else, and controls by its demand how much it receives.
  @inlinable @inline(__always)
  public func subscribe<S>(_ subscriber: consuming S) where S: Subscriber, Failure == S.Failure, Output == S.Input {
    if isWatched.load(ordering: .relaxed) {
      subscribeWatched(subscriber)
    } else {
      receive(subscriber: subscriber)
    }
  }

  /// Attaches a subject, which passes on to its own subscribers what it receives.
  ///
  /// - Returns: a handle that ends the connection when it is cancelled or released.
  @inlinable
  public func subscribe<S>(_ subject: S) -> AnyCancellable where S: Subject, Failure == S.Failure, Output == S.Output {
    let subscriber = SubjectSubscriber(subject)
    subscribe(subscriber)
    return AnyCancellable(stopping: subscriber)
  }
}
