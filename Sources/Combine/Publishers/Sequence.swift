extension Publishers {
  /// A publisher of the elements of a sequence.
  public struct Sequence<Elements: Swift.Sequence, Failure: Error>: Publisher {
    /// The kind of values published.
    public typealias Output = Elements.Element

    /// The elements to publish.
    public let sequence: Elements

    /// Makes a publisher of the elements of a sequence.
    @inlinable
    public init(sequence: Elements) {
      self.sequence = sequence
    }

    /// Attaches a subscriber, which gets the elements as it asks for them, and the end right after the last.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where Failure == S.Failure, Elements.Element == S.Input, S: Subscriber {
      SequenceSubscription.subscribe(subscriber, to: sequence)
    }
  }
}

extension Publishers.Sequence: Equatable where Elements: Equatable {}

extension Swift.Sequence {
  /// A publisher of the elements of this sequence.
  @inlinable
  public var publisher: Publishers.Sequence<Self, Never> {
    Publishers.Sequence(sequence: self)
  }
}
