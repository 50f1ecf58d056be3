import Combine
import Dispatch

extension Publisher {
  /// Subscribes a second time when the first answer is late, and goes on with whichever comes first.
  ///
  ///     request.hedged(.standard.when(\.isTransient), scheduler: queue)
  ///
  /// The first attempt that sends a value or finishes wins; the others are cancelled, and the stream goes on with the
  /// winner alone. A failure of the winner after that is the failure of the whole. For idempotent requests only.
  ///
  /// - Parameters:
  ///   - policy: How many attempts, and when.
  ///   - scheduler: Measures time and waits; `DispatchQueue.main` unless told otherwise. A program that
  ///     blocks its main thread must name another one.
  ///   - options: For the scheduler.
  ///
  /// - Demand: While they race each attempt is asked for one value, once something is owed; until then no hedge is late.
  ///   The rest of the demand goes to the winner. The values of the others are dropped, one from each at most.
  /// - Failure: The primary attempt's when all fail, unless the policy names another; a fatal one at once. What attempts
  ///   fail with that were cancelled goes to ``DroppedErrors``.
  /// - Threads: Values and completion arrive where the attempts send them. The scheduler runs only the subscriptions of
  ///   hedges.
  /// - Note: Every hedge subscribes to the upstream anew. An upstream that shares one execution (`share()`, `Future`)
  ///   cannot be hedged; wrap the making of it in `Deferred`.
  public func hedged<Context: Scheduler>(
    _ policy: HedgePolicy<Failure>,
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil
  ) -> Publishers.Hedged<Self, Context> {
    policy.publisher(scheduler: scheduler, options: options) { _ in self }
  }
}

extension HedgePolicy {
  /// Makes a publisher for each attempt, which is told its number.
  ///
  ///     policy.publisher(scheduler: queue) { hedge in client.forecast(for: city, from: mirrors[hedge]) }
  ///
  /// See ``Combine/Publisher/hedged(_:scheduler:options:)`` for demand, failure and threads.
  ///
  /// - Parameters:
  ///   - scheduler: Measures time and waits.
  ///   - options: For the scheduler.
  ///   - make: Makes an attempt from its number: 0 for the primary one, then 1 and so on.
  public func publisher<Upstream: Publisher, Context: Scheduler>(
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil,
    _ make: @escaping (_ hedge: Int) -> Upstream
  ) -> Publishers.Hedged<Upstream, Context> where Upstream.Failure == Failure {
    Publishers.Hedged(policy: self, scheduler: scheduler, options: options, make: make)
  }
}

extension Publishers {
  /// Subscribes a second time when the first answer is late.
  ///
  /// Made by ``Combine/Publisher/hedged(_:scheduler:options:)``.
  public struct Hedged<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// What the attempts publish.
    public typealias Output = Upstream.Output
    /// What the attempts fail with.
    public typealias Failure = Upstream.Failure

    /// How many attempts, and when.
    public let policy: HedgePolicy<Upstream.Failure>
    /// Measures time and waits.
    public let scheduler: Context
    /// For the scheduler.
    public let options: Context.SchedulerOptions?
    /// Makes an attempt from its number.
    public let make: (Int) -> Upstream

    /// Makes a publisher that subscribes a second time when the first answer is late.
    ///
    /// - Parameters:
    ///   - policy: How many attempts, and when.
    ///   - scheduler: Measures time and waits.
    ///   - options: For the scheduler.
    ///   - make: Makes an attempt from its number, from 0.
    public init(
      policy: HedgePolicy<Upstream.Failure>,
      scheduler: Context,
      options: Context.SchedulerOptions? = nil,
      make: @escaping (_ hedge: Int) -> Upstream
    ) {
      self.policy = policy
      self.scheduler = scheduler
      self.options = options
      self.make = make
    }

    /// Begins a race of its own for this subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let execution = HedgeExecution(self, downstream: subscriber)
      subscriber.receive(subscription: execution)
      execution.begin()
    }
  }
}
