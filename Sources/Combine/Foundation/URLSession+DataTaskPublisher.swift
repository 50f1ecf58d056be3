#if Foundation
  import Foundation
  import StreamSupport

  extension URLSession {
    /// A publisher of what a server answers to a plain GET request.
    ///
    /// - Demand: the request is sent when the first value is asked for.
    /// - Failure: a `URLError` if there is no answer. Any answer is a value, whatever its HTTP status.
    /// - Threads: the answer comes on the delegate queue of the session.
    public func dataTaskPublisher(for url: URL) -> DataTaskPublisher {
      dataTaskPublisher(for: URLRequest(url: url))
    }

    /// A publisher of what a server answers to a request.
    ///
    /// - Demand: the request is sent when the first value is asked for.
    /// - Failure: a `URLError` if there is no answer. Any answer is a value, whatever its HTTP status.
    /// - Threads: the answer comes on the delegate queue of the session.
    public func dataTaskPublisher(for request: URLRequest) -> DataTaskPublisher {
      DataTaskPublisher(request: request, session: self)
    }

    /// A publisher that sends a request for each of its subscribers, and publishes the answer.
    public struct DataTaskPublisher: Publisher, Sendable {
      /// The body of the answer, empty if there was none, and its head.
      public typealias Output = (data: Data, response: URLResponse)
      /// There was no answer.
      public typealias Failure = URLError

      /// The request to send.
      public let request: URLRequest

      /// The session that sends it.
      public let session: URLSession

      /// Makes a publisher of the answer to a request.
      public init(request: URLRequest, session: URLSession) {
        self.request = request
        self.session = session
      }

      /// Attaches a subscriber; the request is sent once it asks for a value.
      public func receive<S>(subscriber: S)
      where S: Subscriber, S.Failure == URLError, S.Input == (data: Data, response: URLResponse) {
        subscriber.receive(subscription: DataTaskSubscription(self, to: AnySubscriber(subscriber)))
      }
    }
  }

  /// One subscriber's task.
  ///
  /// Unchecked, because the lock guards all that changes, and the subscriber is only handed over: to the session's
  /// delegate queue, once.
  private final class DataTaskSubscription: Subscription, CustomStringConvertible, CustomReflectable,
    CustomPlaygroundDisplayConvertible, @unchecked Sendable
  {
    typealias Downstream = AnySubscriber<URLSession.DataTaskPublisher.Output, URLError>

    private let lock = Lock()
    // All guarded by `lock`, and emptied at the end.
    private var parent: URLSession.DataTaskPublisher?
    private var downstream: Downstream?
    private var task: URLSessionDataTask?
    private var hasStarted = false
    private var demand = Subscribers.Demand.none

    init(_ parent: URLSession.DataTaskPublisher, to downstream: Downstream) {
      self.parent = parent
      self.downstream = downstream
    }

    func request(_ demand: Subscribers.Demand) {
      demand.mustNotBeNone(description)
      lock.lock()
      guard let parent else {
        lock.unlock()
        return
      }
      self.demand += demand
      let isFirst = !hasStarted
      hasStarted = true
      lock.unlock()
      // Only once: Apple's Combine resumes the task upon every request, which does nothing there, but on Linux
      // Foundation would load a second time and stop the process when the first is over.
      if isFirst { start(parent) }
    }

    private func start(_ parent: URLSession.DataTaskPublisher) {
      let task = parent.session.dataTask(with: parent.request) { data, response, error in
        self.finish(data, response, error)
      }
      let isWanted = lock.withLock {
        if self.parent != nil { self.task = task }
        return self.parent != nil
      }
      if isWanted { task.resume() } else { task.cancel() }
    }

    private func finish(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
      guard let (downstream, _) = takeState() else { return }
      if let response, error == nil {
        _ = downstream.receive((data ?? Data(), response))
        downstream.receive(completion: .finished)
      } else {
        downstream.receive(completion: .failure(Self.urlError(error)))
      }
    }

    /// Whoever stands in for the network may give an `NSError`, which is no `URLError` on Linux until it is made one.
    private static func urlError(_ error: (any Error)?) -> URLError {
      if let error = error as? URLError { return error }
      guard let error = error as? NSError, error.domain == NSURLErrorDomain else { return URLError(.unknown) }
      return URLError(_nsError: error)
    }

    func cancel() {
      takeState()?.task?.cancel()
    }

    /// Ends the subscription, and hands out what it held to the one caller who did.
    private func takeState() -> (downstream: Downstream, task: URLSessionDataTask?)? {
      lock.lock()
      defer { lock.unlock() }
      guard let downstream else { return nil }
      let held = (downstream, task)
      parent = nil
      self.downstream = nil
      task = nil
      return held
    }

    var description: String { "DataTaskPublisher" }
    var playgroundDescription: Any { description }
    var customMirror: Mirror {
      lock.lock()
      let (task, downstream, parent, demand) = (task, downstream, parent, demand)
      lock.unlock()
      return Mirror(
        self,
        children: [
          "task": task as Any, "downstream": downstream?.erased.subject as Any, "parent": parent as Any,
          "demand": demand,
        ]
      )
    }
  }
#endif
