/// A publisher that starts when told to, so that several subscribers can attach first.
public protocol ConnectablePublisher<Output, Failure>: Publisher {
  /// Starts the publisher.
  ///
  /// - Returns: a handle that stops it.
  func connect() -> any Cancellable
}
