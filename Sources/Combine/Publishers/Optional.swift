extension Optional {
  // Disfavoured, since packages brought this property along before Apple's Combine had it: theirs must win, where it
  // would be ambiguous else.
  /// A publisher of the value, if there is one, and the end.
  @inlinable @_disfavoredOverload
  public var publisher: Optional<Wrapped>.Publisher {
    Publisher(self)
  }

  /// A publisher of one value or none, and the end.
  public struct Publisher: Combine.Publisher {
    /// The kind of value published.
    public typealias Output = Wrapped
    /// It can't fail.
    public typealias Failure = Never

    /// The value to publish, if there is one.
    public let output: Wrapped?

    /// Makes a publisher of a value that may be missing.
    @inlinable
    public init(_ output: Wrapped?) {
      self.output = output
    }

    /// Attaches a subscriber, which gets value and end upon its first request; without a value the end comes at once.
    @inlinable
    public func receive<S>(subscriber: S) where Wrapped == S.Input, S: Subscriber, S.Failure == Never {
      if let output {
        subscriber.receive(subscription: ScalarSubscription(output, label: "Optional", to: subscriber))
      } else {
        subscriber.receive(subscription: EmptySubscription.shared)
        subscriber.receive(completion: .finished)
      }
    }
  }
}

extension Optional.Publisher: Equatable where Wrapped: Equatable {}
