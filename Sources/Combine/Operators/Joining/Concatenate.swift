import StreamSupport
import Synchronization

extension Publisher {
  /// Publishes some more values after this publisher has finished.
  ///
  /// - Demand: passes as it is; what is still owed is asked of the second part.
  /// - Failure: ends the stream, without the second part.
  /// - Threads: values pass where they are sent; the second part is subscribed to where the first finishes.
  @inlinable @inline(__always)
  public func append(_ elements: Output...) -> Publishers.Concatenate<Self, Publishers.Sequence<[Output], Failure>> {
    append(elements)
  }

  /// Publishes the elements of a sequence after this publisher has finished.
  ///
  /// - Demand: passes as it is; what is still owed is asked of the second part.
  /// - Failure: ends the stream, without the second part.
  /// - Threads: values pass where they are sent; the second part is subscribed to where the first finishes.
  @inlinable @inline(__always)
  public func append<S>(_ elements: S) -> Publishers.Concatenate<Self, Publishers.Sequence<S, Failure>>
  where S: Swift.Sequence, Output == S.Element {
    append(Publishers.Sequence(sequence: elements))
  }

  /// Publishes the values of another publisher after this one has finished.
  ///
  /// - Demand: passes as it is; what is still owed is asked of the second part.
  /// - Failure: ends the stream, without the second part.
  /// - Threads: values pass where they are sent; the second part is subscribed to where the first finishes.
  @inlinable @inline(__always)
  public func append<P>(_ publisher: P) -> Publishers.Concatenate<Self, P>
  where P: Publisher, Failure == P.Failure, Output == P.Output {
    Publishers.Concatenate(prefix: self, suffix: publisher)
  }

  /// Publishes some values before those of this publisher.
  ///
  /// - Demand: passes as it is; what is still owed is asked of this publisher.
  /// - Failure: passes as it is.
  /// - Threads: values pass where they are sent; the second part is subscribed to where the first finishes.
  @inlinable @inline(__always)
  public func prepend(_ elements: Output...) -> Publishers.Concatenate<Publishers.Sequence<[Output], Failure>, Self> {
    prepend(elements)
  }

  /// Publishes the elements of a sequence before the values of this publisher.
  ///
  /// - Demand: passes as it is; what is still owed is asked of this publisher.
  /// - Failure: passes as it is.
  /// - Threads: values pass where they are sent; the second part is subscribed to where the first finishes.
  @inlinable @inline(__always)
  public func prepend<S>(_ elements: S) -> Publishers.Concatenate<Publishers.Sequence<S, Failure>, Self>
  where S: Swift.Sequence, Output == S.Element {
    prepend(Publishers.Sequence(sequence: elements))
  }

  /// Publishes the values of another publisher, and then those of this one.
  ///
  /// - Demand: passes as it is; what is still owed is asked of this publisher.
  /// - Failure: of the other publisher, ends the stream, without this one.
  /// - Threads: values pass where they are sent; the second part is subscribed to where the first finishes.
  @inlinable @inline(__always)
  public func prepend<P>(_ publisher: P) -> Publishers.Concatenate<P, Self>
  where P: Publisher, Failure == P.Failure, Output == P.Output {
    Publishers.Concatenate(prefix: publisher, suffix: self)
  }
}

extension Publishers {
  /// A publisher of all values of one publisher, and then of those of another.
  public struct Concatenate<Prefix: Publisher, Suffix: Publisher>: Publisher
  where Prefix.Failure == Suffix.Failure, Prefix.Output == Suffix.Output {
    /// The kind of values published.
    public typealias Output = Suffix.Output
    /// Fails as either publisher does.
    public typealias Failure = Suffix.Failure

    /// The publisher of the values that come first.
    public let prefix: Prefix

    /// The publisher of the values that come after.
    public let suffix: Suffix

    /// Makes a publisher of the values of one publisher, and then of another.
    @inlinable @inline(__always)
    public init(prefix: Prefix, suffix: Suffix) {
      self.prefix = prefix
      self.suffix = suffix
    }

    /// Attaches a subscriber to the first publisher.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Suffix.Failure == S.Failure, Suffix.Output == S.Input {
      let parent = ConcatenateSubscription<Suffix, S>(to: subscriber, suffix: suffix)
      prefix.subscribe(ConcatenateSubscription<Suffix, S>.Prefix(parent))
    }
  }
}

extension Publishers.Concatenate: Equatable where Prefix: Equatable, Suffix: Equatable {}

/// Counts what the prefix delivers, so that the suffix is asked for the rest.
@usableFromInline
final class ConcatenateSubscription<Suffix: Publisher, Downstream: Subscriber>: SubscriptionArbiter
where Downstream.Input == Suffix.Output, Downstream.Failure == Suffix.Failure {
  @usableFromInline let downstream: Downstream
  // Guarded by `lock`; emptied when it is subscribed to or no longer needed.
  @exclusivity(unchecked) @usableFromInline var suffix: Suffix?

  @inlinable @inline(__always)
  init(to downstream: Downstream, suffix: Suffix) {
    self.downstream = downstream
    self.suffix = suffix
    super.init()
  }

  @inlinable @inline(__always)
  func receive(_ input: Suffix.Output, in phase: UInt8) -> Subscribers.Demand {
    // A value that nobody asked for is dropped.
    guard isIn(phase), outstanding.takeOne() else { return .none }
    let answer = downstream.receive(input)
    return answer == .none ? .none : addDemand(answer, answeringIn: phase)
  }

  /// Does what subscribing to a `Just` would do.
  @inlinable
  func finish(scalar output: Suffix.Output) {
    _ = receive(output, in: Phase.second)
    if advance(from: Phase.second, to: Phase.over) { downstream.receive(completion: .finished) }
  }

  @usableFromInline
  func takeSuffix() -> Suffix? {
    lock.lock()
    defer { lock.unlock() }
    let suffix = suffix
    self.suffix = nil
    return suffix
  }

  @usableFromInline
  override func cancel() {
    super.cancel()
    withExtendedLifetime(takeSuffix()) {}
  }

  @usableFromInline override var name: String { "Concatenate" }

  /// The subscriber of the first publisher.
  @usableFromInline
  struct Prefix: Subscriber, CustomStringConvertible, CustomReflectable, CustomPlaygroundDisplayConvertible {
    @usableFromInline typealias Input = Suffix.Output
    @usableFromInline typealias Failure = Suffix.Failure

    @usableFromInline let parent: ConcatenateSubscription

    @inlinable @inline(__always)
    init(_ parent: ConcatenateSubscription) {
      self.parent = parent
    }

    @inlinable
    func receive(subscription: any Subscription) {
      guard parent.hold(subscription, from: Phase.awaitingFirst, to: Phase.first) != nil else { return }
      parent.downstream.receive(subscription: parent)
    }

    @inlinable @inline(__always)
    func receive(_ input: Input) -> Subscribers.Demand {
      parent.receive(input, in: Phase.first)
    }

    @inlinable
    func receive(completion: Subscribers.Completion<Failure>) {
      switch completion {
      case .finished:
        guard parent.advance(from: Phase.first, to: Phase.awaitingSecond) else { return }
        guard let suffix = parent.takeSuffix() else { return }
        if let output = suffix.scalarValue, parent.beginScalar() {
          parent.finish(scalar: output)
        } else {
          suffix.subscribe(SuffixSubscriber(parent))
        }
      case .failure:
        guard parent.advance(from: Phase.first, to: Phase.over) else { return }
        withExtendedLifetime(parent.takeSuffix()) {}
        parent.downstream.receive(completion: completion)
      }
    }

    @usableFromInline var combineIdentifier: CombineIdentifier { parent.combineIdentifier }
    @usableFromInline var description: String { parent.name }
    @usableFromInline var playgroundDescription: Any { parent.name }
    @usableFromInline var customMirror: Mirror { parent.customMirror }
  }

  /// The subscriber of the second publisher.
  @usableFromInline
  struct SuffixSubscriber: Subscriber, CustomStringConvertible, CustomReflectable, CustomPlaygroundDisplayConvertible {
    @usableFromInline typealias Input = Suffix.Output
    @usableFromInline typealias Failure = Suffix.Failure

    @usableFromInline let parent: ConcatenateSubscription

    @inlinable @inline(__always)
    init(_ parent: ConcatenateSubscription) {
      self.parent = parent
    }

    @inlinable
    func receive(subscription: any Subscription) {
      guard let owed = parent.hold(subscription, from: Phase.awaitingSecond, to: Phase.second), owed != .none
      else { return }
      subscription.request(owed)
    }

    @inlinable @inline(__always)
    func receive(_ input: Input) -> Subscribers.Demand {
      parent.receive(input, in: Phase.second)
    }

    @inlinable
    func receive(completion: Subscribers.Completion<Failure>) {
      guard parent.advance(from: Phase.second, to: Phase.over) else { return }
      parent.downstream.receive(completion: completion)
    }

    @usableFromInline var combineIdentifier: CombineIdentifier { parent.combineIdentifier }
    @usableFromInline var description: String { parent.name }
    @usableFromInline var playgroundDescription: Any { parent.name }
    @usableFromInline var customMirror: Mirror { parent.customMirror }
  }
}
