import StreamSupport

extension Publisher {
  /// Shares one subscription to this publisher among all subscribers, by way of a subject made by a closure.
  ///
  /// - Parameter createSubject: called once, for the first subscriber or connection.
  /// - Demand: the subject's affair; a connection asks this publisher for what the subject asks, usually everything.
  /// - Failure: passes as it is.
  /// - Threads: values come where this publisher sends.
  @inlinable
  public func multicast<S>(_ createSubject: @escaping () -> S) -> Publishers.Multicast<Self, S>
  where S: Subject, Failure == S.Failure, Output == S.Output {
    Publishers.Multicast(upstream: self, createSubject: createSubject)
  }

  /// Shares one subscription to this publisher among all subscribers, by way of a subject.
  ///
  /// - Demand: the subject's affair; a connection asks this publisher for what the subject asks, usually everything.
  /// - Failure: passes as it is.
  /// - Threads: values come where this publisher sends.
  @inlinable
  public func multicast<S>(subject: S) -> Publishers.Multicast<Self, S>
  where S: Subject, Failure == S.Failure, Output == S.Output {
    multicast { subject }
  }
}

extension Publishers {
  /// A publisher that shares one subscription to another, through a subject.
  public final class Multicast<Upstream: Publisher, SubjectType: Subject>: ConnectablePublisher
  where Upstream.Failure == SubjectType.Failure, Upstream.Output == SubjectType.Output {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher to share.
    public let upstream: Upstream

    /// Makes the subject.
    public let createSubject: () -> SubjectType

    // Held while the subject is made, so that it is made once; a combining lock, since the closure is foreign code.
    private let combiningLock = CombiningLock()
    // Written once, inside the combining lock.
    @exclusivity(unchecked) private var existingSubject: SubjectType?

    /// Makes a publisher that shares another.
    public init(upstream: Upstream, createSubject: @escaping () -> SubjectType) {
      self.upstream = upstream
      self.createSubject = createSubject
    }

    @usableFromInline
    var subject: SubjectType {
      combiningLock.pass {
        if let existingSubject { return existingSubject }
        let made = createSubject()
        existingSubject = made
        return made
      }
    }

    /// Attaches a subscriber to the subject.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, SubjectType.Failure == S.Failure, SubjectType.Output == S.Input {
      subject.subscribe(MulticastSubscriber(to: subscriber))
    }

    /// Subscribes the subject to the upstream.
    ///
    /// Connecting twice subscribes it twice.
    ///
    /// - Returns: a handle that ends the connection when it is cancelled or released.
    @inlinable
    public func connect() -> any Cancellable {
      upstream.subscribe(subject)
    }
  }
}

/// What a subscriber is to the subject.
///
/// What a value's answer asks for goes up as a request of its own.
@usableFromInline
final class MulticastSubscriber<Downstream: Subscriber>: UpstreamSubscription, Subscriber {
  @usableFromInline let downstream: Downstream

  @inlinable @inline(__always)
  init(to downstream: Downstream) {
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    if hold(subscription) { downstream.receive(subscription: self) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Downstream.Input) -> Subscribers.Demand {
    guard isHolding else { return .none }
    let more = downstream.receive(input)
    if more != .none { held?.request(more) }
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Downstream.Failure>) {
    guard end() != nil else { return }
    downstream.receive(completion: completion)
  }

  @usableFromInline
  override func cancel() {
    endForGood()?.cancel()
  }

  @usableFromInline override var name: String { "Multicast" }
}
