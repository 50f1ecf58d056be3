/// A publisher that is made anew for each subscriber, when the subscriber comes.
public struct Deferred<DeferredPublisher: Publisher>: Publisher {
  /// The kind of values published.
  public typealias Output = DeferredPublisher.Output
  /// Fails as the publisher made does.
  public typealias Failure = DeferredPublisher.Failure

  /// Makes the publisher for one subscriber.
  public let createPublisher: () -> DeferredPublisher

  /// Makes a publisher that puts off making another.
  ///
  /// - Parameter createPublisher: runs once for each subscriber, on the thread that subscribes.
  @inlinable
  public init(createPublisher: @escaping () -> DeferredPublisher) {
    self.createPublisher = createPublisher
  }

  /// Makes a publisher, and attaches the subscriber to it.
  @inlinable
  public func receive<S>(subscriber: consuming S)
  where S: Subscriber, DeferredPublisher.Failure == S.Failure, DeferredPublisher.Output == S.Input {
    createPublisher().subscribe(subscriber)
  }
}
