import Combine
import StreamSupport

extension Publishers {
  /// Publishes what a closure sends: a source of one's own, with the demand and the one end of every other.
  ///
  ///     let readings = Publishers.Create<Reading, Never>("Thermometer") { emitter in
  ///       thermometer.watch { emitter.sendIfRequested($0) }
  ///     }
  ///
  /// As RxJava's `Flowable.create`.
  ///
  /// - Demand: What is sent beyond it is kept, or dropped, as the closure says (``Emitter/send(_:)``,
  ///   ``Emitter/sendIfRequested(_:)``). A source that makes its values upon request gives a second closure.
  /// - Failure: What the closure sends.
  /// - Threads: Where the closure sends, or where what is kept is requested.
  public struct Create<Output, Failure: Error>: Publisher {
    private let name: String
    private let whenRequested: (Emitter<Output, Failure>, Subscribers.Demand) -> Void
    private let start: (Emitter<Output, Failure>) -> (any Cancellable)?

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - name: The source's, for logs and mirrors.
    ///   - whenRequested: Called with each request, on its thread.
    ///   - start: Called for each subscriber, once it has its subscription. Returns what is cancelled if the subscriber
    ///     cancels, and let go of at the end; `nil` if there is nothing to cancel.
    public init(
      _ name: String = "Create",
      whenRequested: @escaping (Emitter<Output, Failure>, Subscribers.Demand) -> Void = { _, _ in },
      start: @escaping (Emitter<Output, Failure>) -> (any Cancellable)?
    ) {
      self.name = name
      self.whenRequested = whenRequested
      self.start = start
    }

    /// Starts the source for this subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let work = OneShot {}
      let emitter = Emitter(named: name, to: subscriber)
      emitter.begin(whenRequested: whenRequested, whenCancelled: work.cancel)
      // A subscriber may cancel as soon as it has its subscription.
      guard emitter.isActive, let started = start(emitter) else { return }
      // Cancelled at once, if the subscription was meanwhile.
      work.keep(started)
    }
  }
}
