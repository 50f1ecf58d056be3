import Combine
import StreamSupport

/// What a publisher sends: a value, or the end.
public enum StreamEvent<Value, Failure: Error> {
  /// A value.
  case value(Value)
  /// The end, with an error.
  case failure(Failure)
  /// The end, without one.
  case finished
}

extension StreamEvent: Equatable where Value: Equatable, Failure: Equatable {}
extension StreamEvent: Hashable where Value: Hashable, Failure: Hashable {}
extension StreamEvent: Sendable where Value: Sendable {}

extension Publisher {
  /// Turns values and the end into values, to look at them, log them or build other events from them.
  ///
  ///     request.materialize().handleEvents(receiveOutput: log.write).dematerialize()
  ///
  /// - Demand: Passes up. The end is a value too, and waits until one is requested. Values beyond the demand are
  ///   dropped.
  /// - Failure: Never; n values and the end become n + 1 values, followed by the finish.
  /// - Threads: Where the upstream sends; an end that waited for a request comes where the request is made.
  public func materialize() -> Publishers.Materialize<Self> {
    Publishers.Materialize(upstream: self)
  }

  /// Turns events back into what they stand for; undoes ``Combine/Publisher/materialize()``.
  ///
  /// - Demand: Passes up.
  /// - Failure: That of the first event that is a failure. The first event that is an end cancels the upstream, and an
  ///   upstream that finishes without one finishes this.
  /// - Threads: Where the upstream sends.
  public func dematerialize<Value, Original: Error>() -> Publishers.Dematerialize<Self, Value, Original>
  where Output == StreamEvent<Value, Original>, Failure == Never {
    Publishers.Dematerialize(upstream: self)
  }

  /// Only the values of a stream of events.
  ///
  /// - Demand: Passes up; what is left out is made good.
  public func values<Value, Original: Error>() -> Publishers.CompactMap<Self, Value>
  where Output == StreamEvent<Value, Original> {
    compactMap { if case .value(let value) = $0 { value } else { nil } }
  }

  /// Only the failures of a stream of events.
  ///
  /// - Demand: Passes up; what is left out is made good.
  public func failures<Value, Original: Error>() -> Publishers.CompactMap<Self, Original>
  where Output == StreamEvent<Value, Original> {
    compactMap { if case .failure(let error) = $0 { error } else { nil } }
  }

  /// Only the values of a stream of results.
  ///
  ///     let answers = username.flatMapLatestResult { service.isAvailable($0) }.share()
  ///     answers.values().assign(to: &$isAvailable)
  ///     answers.failures().map(\.localizedDescription).assign(to: &$message)
  ///
  /// - Demand: Passes up; what is left out is made good.
  public func values<Value, Original: Error>() -> Publishers.CompactMap<Self, Value>
  where Output == Result<Value, Original> {
    compactMap { if case .success(let value) = $0 { value } else { nil } }
  }

  /// Only the failures of a stream of results.
  ///
  /// - Demand: Passes up; what is left out is made good.
  public func failures<Value, Original: Error>() -> Publishers.CompactMap<Self, Original>
  where Output == Result<Value, Original> {
    compactMap { if case .failure(let error) = $0 { error } else { nil } }
  }
}

extension Publishers {
  /// Publishes the values and the end of another publisher as events.
  ///
  /// Made by ``Combine/Publisher/materialize()``.
  public struct Materialize<Upstream: Publisher>: Publisher {
    /// What the upstream sends.
    public typealias Output = StreamEvent<Upstream.Output, Upstream.Failure>
    /// A failure is a value here.
    public typealias Failure = Never

    /// Where the events come from.
    public let upstream: Upstream

    /// Makes a publisher of events.
    ///
    /// - Parameter upstream: Where the events come from.
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Subscribes to the upstream on behalf of this subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.subscribe(
        EventExecution<Upstream, S>(
          named: "Materialize",
          downstream: subscriber,
          value: Output.value,
          terminal: { if case .failure(let error) = $0 { .failure(error) } else { .finished } }
        )
      )
    }
  }

  /// Publishes what the events of another publisher stand for.
  ///
  /// Made by ``Combine/Publisher/dematerialize()``.
  public struct Dematerialize<Upstream: Publisher, Output, Failure: Error>: Publisher
  where Upstream.Output == StreamEvent<Output, Failure>, Upstream.Failure == Never {
    /// Where the events come from.
    public let upstream: Upstream

    /// Makes a publisher of what events stand for.
    ///
    /// - Parameter upstream: Where the events come from.
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Subscribes to the upstream on behalf of this subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.subscribe(DematerializeExecution<S>(downstream: subscriber))
    }
  }
}

extension Publishers.Materialize: Equatable where Upstream: Equatable {}
extension Publishers.Dematerialize: Equatable where Upstream: Equatable {}

/// Stands between a stream of events and one subscriber.
///
/// The lock guards `passage`, and no foreign code runs under it.
private final class DematerializeExecution<Downstream: Subscriber>: Subscriber, Subscription, CustomStringConvertible {
  private let lock = Lock()
  private var passage: Passage<Downstream>

  init(downstream: Downstream) {
    passage = .ready(downstream)
  }

  var description: String { "Dematerialize" }

  func receive(subscription: any Subscription) {
    guard let downstream = lock.withLock({ passage.begin(subscription) }) else { return subscription.cancel() }
    downstream.receive(subscription: self)
  }

  func receive(_ event: StreamEvent<Downstream.Input, Downstream.Failure>) -> Subscribers.Demand {
    switch event {
    case .value(let value):
      return lock.withLock { passage.ends }?.downstream.receive(value) ?? .none
    case .failure(let error): end(with: .failure(error), cancelling: true)
    case .finished: end(with: .finished, cancelling: true)
    }
    return .none
  }

  func receive(completion: Subscribers.Completion<Never>) {
    end(with: .finished, cancelling: false)
  }

  func request(_ demand: Subscribers.Demand) {
    lock.withLock { passage.ends }?.subscription.request(demand)
  }

  func cancel() {
    lock.withLock { passage.end() }.ends?.subscription.cancel()
  }

  private func end(with completion: Subscribers.Completion<Downstream.Failure>, cancelling: Bool) {
    guard let ends = lock.withLock({ passage.end() }).ends else { return }
    if cancelling { ends.subscription.cancel() }
    ends.downstream.receive(completion: completion)
  }

  /// Ends whatever goes on, and says what that was.
}
