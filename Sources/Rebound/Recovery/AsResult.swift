import Combine
import StreamSupport

extension Publisher {
  /// Turns a failure into a value, so that what stands below lives on with it.
  ///
  ///     username
  ///       .map { service.isAvailable($0).asResult() }   // a failed request is a result like any other
  ///       .switchToLatest()
  ///
  /// On a stream that is to survive an error, use it inside: the stream that failed is over, whatever its failure was
  /// turned into. ``Combine/Publisher/flatMapLatestResult(_:)`` does that.
  ///
  /// - Demand: Passes up. The failure is a value too, and waits until one is requested. Values beyond the demand are
  ///   dropped.
  /// - Failure: Never; a failure becomes `.failure`, followed by the finish.
  /// - Threads: Where the upstream sends; a failure that waited for a request comes where the request is made.
  public func asResult() -> Publishers.AsResult<Self> {
    Publishers.AsResult(upstream: self)
  }

  /// For each value, subscribes to a new publisher in place of the one before, and publishes its values and its failure
  /// as results.
  ///
  ///     username
  ///       .flatMapLatestResult { service.isAvailable($0) }   // a stale answer never wins, an error ends nothing
  ///
  /// - Parameter transform: Makes the publisher for a value.
  ///
  /// - Demand: Asks the upstream for everything, and the publisher of the moment for what is owed.
  /// - Failure: Only the upstream's own. A failure of a publisher made here becomes `.failure`.
  /// - Threads: Where the publisher of the moment sends.
  public func flatMapLatestResult<Inner: Publisher>(
    _ transform: @escaping (Output) -> Inner
  )
    -> Publishers.SwitchToLatest<
      Publishers.SetFailureType<Publishers.AsResult<Inner>, Failure>,
      Publishers.Map<Self, Publishers.SetFailureType<Publishers.AsResult<Inner>, Failure>>
    >
  {
    map { transform($0).asResult().setFailureType(to: Failure.self) }.switchToLatest()
  }
}

extension Publishers {
  /// Publishes values and the failure of another publisher as results.
  ///
  /// Made by ``Combine/Publisher/asResult()``.
  public struct AsResult<Upstream: Publisher>: Publisher {
    /// A value or the failure of the upstream.
    public typealias Output = Result<Upstream.Output, Upstream.Failure>
    /// A failure is a value here.
    public typealias Failure = Never

    /// Where the values come from.
    public let upstream: Upstream

    /// Makes a publisher of results.
    ///
    /// - Parameter upstream: Where the values come from.
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Subscribes to the upstream on behalf of this subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.subscribe(AsResultInner<Upstream, S>(downstream: subscriber))
    }
  }
}

extension Publishers.AsResult: Equatable where Upstream: Equatable {}

/// Stands between the upstream and one subscriber, and knows how much the subscriber is owed.
///
/// The lock guards `phase` and `owed`, and no foreign code runs under it: a phase that is replaced is handed out, so that
/// what it holds is released with the lock open.
private final class AsResultInner<Upstream: Publisher, Downstream: Subscriber>: Subscriber, Subscription
where Downstream.Input == Result<Upstream.Output, Upstream.Failure>, Downstream.Failure == Never {
  private enum Phase {
    case ready(Downstream)
    case running(Downstream, any Subscription)
    /// The upstream has failed, and the value that tells so waits for a request.
    case holding(Downstream, Upstream.Failure)
    /// That value is being delivered, and the finish follows unless the downstream cancels.
    case ending(Downstream)
    case over
  }

  private let lock = Lock()
  private var phase: Phase
  /// What the downstream has requested and not yet received.
  private var owed = Subscribers.Demand.none

  init(downstream: Downstream) {
    phase = .ready(downstream)
  }

  func receive(subscription: any Subscription) {
    let downstream: Downstream? = lock.withLock {
      guard case .ready(let downstream) = phase else { return nil }
      phase = .running(downstream, subscription)
      return downstream
    }
    guard let downstream else { return subscription.cancel() }
    downstream.receive(subscription: self)
  }

  func receive(_ input: Upstream.Output) -> Subscribers.Demand {
    let downstream: Downstream? = lock.withLock {
      guard case .running(let downstream, _) = phase, owed > .none else { return nil }
      owed -= 1
      return downstream
    }
    guard let more = downstream?.receive(.success(input)), more > .none else { return .none }
    let isRunning = lock.withLock {
      guard case .running = phase else { return false }
      owed += more
      return true
    }
    if isRunning { return more }
    // The upstream failed from inside the downstream, and the failure may be waiting for just this demand.
    request(more)
    return .none
  }

  func receive(completion: Subscribers.Completion<Upstream.Failure>) {
    switch completion {
    case .finished:
      let before: Phase = lock.withLock {
        let before = phase
        if case .running = before { phase = .over }
        return before
      }
      if case .running(let downstream, _) = before { downstream.receive(completion: .finished) }
    case .failure(let error):
      let before: Phase = lock.withLock {
        let before = phase
        if case .running(let downstream, _) = before { phase = .holding(downstream, error) }
        return before
      }
      withExtendedLifetime(before) { deliverFailureIfOwed() }
    }
  }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let subscription: (any Subscription)? = lock.withLock {
      owed += demand
      guard case .running(_, let subscription) = phase else { return nil }
      return subscription
    }
    if let subscription { subscription.request(demand) } else { deliverFailureIfOwed() }
  }

  func cancel() {
    if case .running(_, let subscription) = end() { subscription.cancel() }
  }

  private func deliverFailureIfOwed() {
    let held: (Downstream, Upstream.Failure)? = lock.withLock {
      guard case .holding(let downstream, let error) = phase, owed > .none else { return nil }
      phase = .ending(downstream)
      return (downstream, error)
    }
    guard let (downstream, error) = held else { return }
    _ = downstream.receive(.failure(error))
    if case .ending = end() { downstream.receive(completion: .finished) }
  }

  /// Ends whatever goes on, and says what that was.
  private func end() -> Phase {
    lock.withLock {
      let before = phase
      phase = .over
      return before
    }
  }
}

extension AsResultInner: CustomStringConvertible {
  var description: String { "AsResult" }
}
