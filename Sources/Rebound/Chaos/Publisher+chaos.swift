import Combine
import Dispatch

extension Publisher {
  /// Lets things go wrong on purpose.
  ///
  ///     request.chaos(chaos, scheduler: queue).retry(policy)
  ///
  /// - Parameters:
  ///   - chaos: What goes wrong, and how often.
  ///   - scheduler: Waits; `DispatchQueue.main` unless told otherwise.
  ///   - options: For the scheduler.
  ///
  /// - Demand: Passes up; a value that comes twice counts twice and is held until it is asked for. Only a violation that
  ///   was ordered exceeds the demand.
  /// - Failure: The upstream's, or an injected one.
  /// - Threads: Where the upstream sends; what is delayed comes on the scheduler, and what is delivered elsewhere on
  ///   a queue of its own.
  public func chaos<Context: Scheduler>(
    _ chaos: Chaos<Output, Failure>,
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil
  ) -> Publishers.WithChaos<Self, Context> {
    Publishers.WithChaos(upstream: self, chaos: chaos, scheduler: scheduler, options: options)
  }
}

extension Publishers {
  /// Lets things go wrong on purpose.
  ///
  /// Made by ``Combine/Publisher/chaos(_:scheduler:options:)``.
  public struct WithChaos<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// What the upstream publishes.
    public typealias Output = Upstream.Output
    /// What the upstream fails with.
    public typealias Failure = Upstream.Failure

    /// What is called if nothing goes wrong.
    public let upstream: Upstream
    /// What goes wrong, and how often.
    public let chaos: Chaos<Output, Failure>
    /// Waits.
    public let scheduler: Context
    /// For the scheduler.
    public let options: Context.SchedulerOptions?

    /// Makes a publisher in which things go wrong.
    ///
    /// - Parameters:
    ///   - upstream: What is called if nothing goes wrong.
    ///   - chaos: What goes wrong, and how often.
    ///   - scheduler: Waits.
    ///   - options: For the scheduler.
    public init(
      upstream: Upstream,
      chaos: Chaos<Output, Failure>,
      scheduler: Context,
      options: Context.SchedulerOptions? = nil
    ) {
      self.upstream = upstream
      self.chaos = chaos
      self.scheduler = scheduler
      self.options = options
    }

    /// Decides what goes wrong for this subscriber, and then subscribes to the upstream, or not.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let alarm = Alarm(scheduler, options: options)
      let admission = Admission<Chaos<Output, Failure>.Plan, AnyPublisher<Output, Failure>>(
        name: "WithChaos",
        ask: { answer in
          let plan = chaos.planCall()
          guard plan.delay > .zero else {
            answer(.success(plan))
            return nil
          }
          let whenDue = DueAnswer { answer(.success(plan)) }
          return alarm.set(plan.delay) { whenDue.give() }
        },
        upstream: { plan in
          let source = plan.end.map { $0.publisher.eraseToAnyPublisher() } ?? upstream.eraseToAnyPublisher()
          guard chaos.touchesStreams else { return source }
          return StreamWithChaos(upstream: source, chaos: chaos, plan: plan, alarm: alarm).eraseToAnyPublisher()
        },
        settle: { _, _ in }
      )
      AdmissionExecution.begin(admission, downstream: subscriber)
    }
  }
}

/// An answer that a timer gives on whichever thread it fires.
///
/// Unchecked, because the alarm calls it once, and nobody else does.
private final class DueAnswer: @unchecked Sendable {
  let give: () -> Void

  init(_ give: @escaping () -> Void) {
    self.give = give
  }
}
