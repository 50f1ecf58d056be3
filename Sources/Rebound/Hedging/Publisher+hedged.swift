import Combine

extension Publisher {
  /// Subscribes a second time when the first answer is late, and goes on with whichever comes first.
  ///
  ///     request.hedged(.standard.when(\.isTransient))
  ///
  /// The first attempt that sends a value or finishes wins; the others are cancelled, and the stream goes on with the
  /// winner alone. A failure of the winner after that is the failure of the whole. For idempotent requests only.
  ///
  /// - Parameters:
  ///   - policy: How many attempts, and when.
  ///   - time: Measures time and waits.
  ///
  /// - Demand: While they race each attempt is asked for one value, once something is owed; until then no hedge is late.
  ///   The rest of the demand goes to the winner. The values of the others are dropped, one from each at most.
  /// - Failure: The primary attempt's when all fail, unless the policy names another; a fatal one at once. What attempts
  ///   fail with that were cancelled goes to ``DroppedErrors``.
  /// - Threads: Values and completion arrive where the attempts send them. Hedges are subscribed to on a thread of the time
  ///   source.
  /// - Note: Every hedge subscribes to the upstream anew. An upstream that shares one execution (`share()`, `Future`)
  ///   cannot be hedged; wrap the making of it in `Deferred`.
  @inlinable
  public func hedged(
    _ policy: HedgePolicy<Failure>,
    time: TimeSource = .current
  ) -> Publishers.Hedged<Self> {
    policy.publisher(time: time) { _ in self }
  }
}

extension HedgePolicy {
  /// Makes a publisher for each attempt, which is told its number.
  ///
  ///     policy.publisher { hedge in client.forecast(for: city, from: mirrors[hedge]) }
  ///
  /// See ``Combine/Publisher/hedged(_:time:)`` for demand, failure and threads.
  ///
  /// - Parameters:
  ///   - time: Measures time and waits.
  ///   - make: Makes an attempt from its number: 0 for the primary one, then 1 and so on.
  @inlinable
  public func publisher<Upstream: Publisher>(
    time: TimeSource = .current,
    _ make: @escaping (_ hedge: Int) -> Upstream
  ) -> Publishers.Hedged<Upstream> where Upstream.Failure == Failure {
    Publishers.Hedged(policy: self, time: time, make: make)
  }
}

extension Publishers {
  /// Subscribes a second time when the first answer is late.
  ///
  /// Made by ``Combine/Publisher/hedged(_:time:)``.
  public struct Hedged<Upstream: Publisher>: Publisher {
    /// What the attempts publish.
    public typealias Output = Upstream.Output
    /// What the attempts fail with.
    public typealias Failure = Upstream.Failure

    @usableFromInline let policy: HedgePolicy<Upstream.Failure>
    @usableFromInline let time: TimeSource
    /// Makes an attempt from its number, from 0.
    @usableFromInline let make: (Int) -> Upstream

    @inlinable
    init(policy: HedgePolicy<Upstream.Failure>, time: TimeSource, make: @escaping (Int) -> Upstream) {
      self.policy = policy
      self.time = time
      self.make = make
    }

    /// Begins a race of its own for this subscriber.
    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let execution = HedgeSubscription(self, downstream: subscriber)
      subscriber.receive(subscription: execution)
      execution.begin()
    }
  }
}
