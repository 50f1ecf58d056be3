import Combine
import StreamSupport

/// A publisher that sends values as they are requested, but for the faults that it is told to have.
///
///     let publisher = MisbehavingPublisher<Int, Never>([1, 2, 3], faults: [.exceedsDemand, .completesTwice])
///     publisher.prefix(1).subscribe(recorder)
///     #expect(recorder.values == [1])
///
/// It shows whether an operator or a subscriber stands up to an upstream that breaks the contract. Without faults it
/// keeps the contract, and all subscribers get all values.
public final class MisbehavingPublisher<Output, Failure: Error>: Publisher, Sendable {
  private struct Counts {
    var subscriptions = 0
    var cancels = 0
  }

  // A test's values need not be Sendable: each subscriber gets them where it requests them.
  private let values: Confined<[Output]>
  private let completion: Subscribers.Completion<Failure>
  private let faults: PublisherFaults
  private let counts = Locked(Counts())

  /// Makes a publisher.
  ///
  /// - Parameters:
  ///   - values: What it sends, as it is requested.
  ///   - completion: What it sends behind them.
  ///   - faults: In which ways it breaks the contract.
  public init(
    _ values: [Output],
    completion: Subscribers.Completion<Failure> = .finished,
    faults: PublisherFaults
  ) {
    self.values = Confined(values)
    self.completion = completion
    self.faults = faults
  }

  /// How often it was subscribed to.
  public var subscriptionCount: Int { counts.withLock { $0.subscriptions } }

  /// How often it was cancelled.
  public var cancelCount: Int { counts.withLock { $0.cancels } }

  /// Begins to send to a subscriber.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    counts.withLock { $0.subscriptions += 1 }
    let delivery = Delivery(AnySubscriber(subscriber), values.value, completion, faults) {
      self.counts.withLock { $0.cancels += 1 }
    }
    if faults.contains(.withholdsSubscription) {
      delivery.request(.unlimited)
      return
    }
    subscriber.receive(subscription: delivery)
    if faults.contains(.subscribesTwice) { subscriber.receive(subscription: delivery) }
  }

  /// What one subscriber gets.
  private final class Delivery: Subscription {
    private struct State: Drained {
      var subscriber: AnySubscriber<Output, Failure>?
      var rest: ArraySlice<Output>
      var owed = Subscribers.Demand.none
      var loop = DrainLoop()
      var isOver = false

      /// A value, or the end.
      mutating func takeNext() -> (subscriber: AnySubscriber<Output, Failure>, value: Output?)? {
        guard let subscriber else { return nil }
        if owed > .none, let value = rest.popFirst() {
          owed -= 1
          return (subscriber, value)
        }
        guard rest.isEmpty, !isOver else { return nil }
        isOver = true
        return (subscriber, nil)
      }
    }

    private let state: Locked<State>
    private let last: Output?
    private let completion: Subscribers.Completion<Failure>
    private let faults: PublisherFaults
    private let whenCancelled: () -> Void

    init(
      _ subscriber: AnySubscriber<Output, Failure>,
      _ values: [Output],
      _ completion: Subscribers.Completion<Failure>,
      _ faults: PublisherFaults,
      whenCancelled: @escaping () -> Void
    ) {
      state = Locked(State(subscriber: subscriber, rest: values[...]))
      last = values.last
      self.completion = completion
      self.faults = faults
      self.whenCancelled = whenCancelled
    }

    func request(_ demand: Subscribers.Demand) {
      state.drain(after: { $0.owed += faults.contains(.exceedsDemand) ? .unlimited : demand }) { subscriber, value in
        guard let value else { return end(subscriber) }
        let more = subscriber.receive(value)
        state.withLock { $0.owed += more }
      }
    }

    func cancel() {
      whenCancelled()
      guard !faults.contains(.ignoresCancel) else { return }
      letGo()
    }

    private func letGo() {
      let subscriber = state.withLock { $0.subscriber.take() }
      withExtendedLifetime(subscriber) {}
    }

    private func end(_ subscriber: AnySubscriber<Output, Failure>) {
      subscriber.receive(completion: completion)
      if faults.contains(.sendsAfterCompletion), let last { _ = subscriber.receive(last) }
      if faults.contains(.completesTwice) { subscriber.receive(completion: completion) }
      letGo()
    }
  }
}

/// Ways in which a ``MisbehavingPublisher`` breaks the contract.
public struct PublisherFaults: OptionSet, Hashable, Sendable {
  /// One bit for each fault.
  public let rawValue: Int

  /// Makes a set of faults.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// It sends everything at the first request, however small.
  public static let exceedsDemand = PublisherFaults(rawValue: 1)
  /// It goes on when it is cancelled.
  public static let ignoresCancel = PublisherFaults(rawValue: 2)
  /// It sends its completion twice.
  public static let completesTwice = PublisherFaults(rawValue: 4)
  /// It sends its last value once more behind the completion.
  public static let sendsAfterCompletion = PublisherFaults(rawValue: 8)
  /// It sends no subscription, and its values without being asked.
  public static let withholdsSubscription = PublisherFaults(rawValue: 16)
  /// It sends its subscription twice.
  public static let subscribesTwice = PublisherFaults(rawValue: 32)
}
