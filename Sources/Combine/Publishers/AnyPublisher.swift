/// A publisher whose type is hidden.
@frozen
public struct AnyPublisher<Output, Failure: Error>: Publisher, CustomStringConvertible,
  CustomPlaygroundDisplayConvertible
{
  // Made where the base type is known, so that the chain behind it stays specialised.
  @usableFromInline let attach: (AnySubscriber<Output, Failure>) -> Void

  /// Hides the type of a publisher; what is hidden already is taken as it is.
  @inlinable @inline(__always)
  public init<P>(_ publisher: P) where P: Publisher, Failure == P.Failure, Output == P.Output {
    if let erased = publisher as? AnyPublisher<Output, Failure> {
      self = erased
    } else {
      attach = { publisher.receive(subscriber: $0) }
    }
  }

  /// Attaches a subscriber to the publisher inside.
  @inlinable
  public func receive<S>(subscriber: consuming S) where S: Subscriber, Failure == S.Failure, Output == S.Input {
    attach(AnySubscriber(subscriber))
  }

  /// `AnyPublisher`, whatever is inside.
  public var description: String { "AnyPublisher" }

  /// `AnyPublisher`, whatever is inside.
  public var playgroundDescription: Any { description }
}

extension Publisher {
  /// Hides the type of this publisher.
  ///
  /// Hides as well which operators made it, so that they can change without breaking callers. Costs one call more for
  /// each value, no lock and no allocation.
  @inlinable @inline(__always)
  public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> {
    AnyPublisher(self)
  }
}

/// A namespace for types that serve as publishers.
public enum Publishers {}
