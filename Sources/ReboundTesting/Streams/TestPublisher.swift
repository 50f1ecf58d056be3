import Combine
import StreamSupport

/// A publisher that a test drives by hand, and that may misbehave.
///
///     let publisher = TestPublisher<Int, Failure>()
///     publisher.retry(1).subscribe(recorder)
///     publisher.send(completion: .failure(.busy))
///     #expect(publisher.subscriptionCount == 2)
///
/// It sends what it is told to send: beyond the demand, before the subscription, after the completion. It writes down
/// who subscribed, what they requested, and whether they cancelled.
public final class TestPublisher<Output, Failure: Error>: Publisher, Sendable {
  private struct State {
    var all: [Connection] = []
    var sentToNobody = 0
  }

  // A test's closures need not be Sendable: they run where somebody subscribes.
  private let handOver: Confined<((AnySubscriber<Output, Failure>) -> Void)?>
  private let whenSubscribed: Confined<(Connection) -> Void>
  private let state = Locked(State())

  /// Makes a publisher that gives every subscriber a subscription, and then sends what it is told to send.
  ///
  /// - Parameter whenSubscribed: Called with each connection once its subscriber has its subscription, to send from
  ///   inside `subscribe`.
  public init(whenSubscribed: @escaping (Connection) -> Void = { _ in }) {
    handOver = Confined(nil)
    self.whenSubscribed = Confined(whenSubscribed)
  }

  /// Makes a publisher that hands each subscriber to a closure, and does nothing else: a subscription, too, is only sent
  /// if the closure sends it.
  ///
  /// - Parameter handOver: Called with each subscriber, from inside `subscribe`.
  public init(handingOver handOver: @escaping (AnySubscriber<Output, Failure>) -> Void) {
    self.handOver = Confined(handOver)
    whenSubscribed = Confined { _ in }
  }

  /// Connects a subscriber.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let subscriber = AnySubscriber(subscriber)
    let connection = Connection(subscriber)
    state.withLock { $0.all.append(connection) }
    if let handOver = handOver.value {
      connection.letGo()
      handOver(subscriber)
    } else {
      subscriber.receive(subscription: connection)
      whenSubscribed.value(connection)
    }
  }

  /// All connections there ever were, in order.
  public var connections: [Connection] { state.withLock { $0.all } }

  /// How often this publisher was subscribed to.
  public var subscriptionCount: Int { connections.count }

  /// What was requested, by all subscribers in the order of their subscriptions.
  public var requests: [Subscribers.Demand] { connections.flatMap(\.requests) }

  /// How often a subscriber cancelled.
  public var cancelCount: Int { connections.reduce(0) { $0 + $1.cancelCount } }

  /// How many values and completions were sent while nobody listened: before a subscription, or after a cancel.
  public var unheardCount: Int {
    connections.reduce(state.withLock { $0.sentToNobody }) { $0 + $1.unheardCount }
  }

  /// Sends a value on the latest connection, whatever its demand.
  ///
  /// - Returns: The demand that the subscriber adds.
  @discardableResult
  public func send(_ value: Output) -> Subscribers.Demand {
    latest()?.send(value) ?? .none
  }

  /// Sends a completion on the latest connection.
  public func send(completion: Subscribers.Completion<Failure>) {
    latest()?.send(completion: completion)
  }

  private func latest() -> Connection? {
    state.withLock { state in
      if state.all.isEmpty { state.sentToNobody += 1 }
      return state.all.last
    }
  }

  /// One subscriber of a ``TestPublisher``, and the subscription that it holds.
  ///
  /// It lets go of the subscriber when the subscriber cancels, and not before: it can send after a completion.
  public final class Connection: Subscription, Sendable {
    private struct State {
      var subscriber: AnySubscriber<Output, Failure>?
      var allRequests: [Subscribers.Demand] = []
      var cancels = 0
      var unheard = 0
    }

    private let state: Locked<State>

    fileprivate init(_ subscriber: AnySubscriber<Output, Failure>) {
      state = Locked(State(subscriber: subscriber))
    }

    /// What was requested, in order.
    public var requests: [Subscribers.Demand] { state.withLock { $0.allRequests } }

    /// How often the subscriber cancelled.
    public var cancelCount: Int { state.withLock { $0.cancels } }

    /// Whether the subscriber has cancelled.
    public var isCancelled: Bool { cancelCount > 0 }

    /// How many values and completions were sent while nobody listened.
    public var unheardCount: Int { state.withLock { $0.unheard } }

    /// Writes down a request.
    public func request(_ demand: Subscribers.Demand) {
      state.withLock { $0.allRequests.append(demand) }
    }

    /// Writes down a cancel, and lets go of the subscriber.
    public func cancel() {
      state.withLock { $0.cancels += 1 }
      letGo()
    }

    /// Lets go of the subscriber: nothing can be sent to it from here on.
    public func letGo() {
      let subscriber = state.withLock { state in
        let subscriber = state.subscriber
        state.subscriber = nil
        return subscriber
      }
      withExtendedLifetime(subscriber) {}
    }

    /// Sends a value, whatever the demand, and even after a completion.
    ///
    /// - Returns: The demand that the subscriber adds; none after it has cancelled, for then nothing is sent.
    @discardableResult
    public func send(_ value: Output) -> Subscribers.Demand {
      listener()?.receive(value) ?? .none
    }

    /// Sends a completion, and even a second one.
    public func send(completion: Subscribers.Completion<Failure>) {
      listener()?.receive(completion: completion)
    }

    private func listener() -> AnySubscriber<Output, Failure>? {
      state.withLock { state in
        if state.subscriber == nil { state.unheard += 1 }
        return state.subscriber
      }
    }

    /// Sends one more subscription, which a subscriber should refuse.
    public func send(subscription: any Subscription) {
      state.withLock { $0.subscriber }?.receive(subscription: subscription)
    }
  }
}
