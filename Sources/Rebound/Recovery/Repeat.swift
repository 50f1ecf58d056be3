import Combine
import Dispatch
import StreamSupport

extension Publisher {
  /// Subscribes again after a finish, as a policy says.
  ///
  ///     Deferred { client.status() }
  ///       .repeat(RepeatPolicy(pause: .constant(.seconds(30))), scheduler: queue)
  ///
  /// - Parameters:
  ///   - policy: How often, and after which pause.
  ///   - scheduler: Waits; `DispatchQueue.main` unless told otherwise. A program that blocks its main thread must name
  ///     another one.
  ///   - options: For the scheduler.
  ///
  /// - Demand: Passes up; what is still owed when a run finishes is requested from the next. Values beyond the demand are
  ///   dropped. An upstream that finishes without having been asked is repeated all the same.
  /// - Failure: The upstream's, which ends it.
  /// - Threads: Values and completion arrive where the upstream sends them. The scheduler runs only the next
  ///   subscription, and not even that when the pause is zero.
  /// - Note: Every run subscribes to the upstream anew; one that shares one execution (`share()`, `Future`) only repeats
  ///   its end. An empty upstream that is repeated for ever without a pause never lets go of its thread.
  public func `repeat`<Context: Scheduler>(
    _ policy: RepeatPolicy,
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil
  ) -> Publishers.Repeat<Self, Context> {
    Publishers.Repeat(upstream: self, policy: policy, scheduler: scheduler, options: options)
  }
}

extension Publishers {
  /// Subscribes again after a finish, as a policy says.
  ///
  /// Made by ``Combine/Publisher/repeat(_:scheduler:options:)``.
  public struct Repeat<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// What the upstream publishes.
    public typealias Output = Upstream.Output
    /// What the upstream fails with.
    public typealias Failure = Upstream.Failure

    /// The publisher of the runs.
    public let upstream: Upstream
    /// How often, and after which pause.
    public let policy: RepeatPolicy
    /// Waits.
    public let scheduler: Context
    /// For the scheduler.
    public let options: Context.SchedulerOptions?

    /// Makes a publisher that subscribes again after a finish.
    ///
    /// - Parameters:
    ///   - upstream: The publisher of the runs.
    ///   - policy: How often, and after which pause.
    ///   - scheduler: Waits.
    ///   - options: For the scheduler.
    public init(
      upstream: Upstream,
      policy: RepeatPolicy,
      scheduler: Context,
      options: Context.SchedulerOptions? = nil
    ) {
      self.upstream = upstream
      self.policy = policy
      self.scheduler = scheduler
      self.options = options
    }

    /// Begins an execution of its own for this subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      // A finish that is a failure is what the attempts of a retry know how to follow.
      let runs = upstream.mapError(RunEnd.failed).append(Fail(error: .finished))
      let downstream = RunEndSubscriber(subscriber)
      let execution = RepeatExecution(upstream: runs, policy, scheduler, options, downstream: downstream)
      downstream.receive(subscription: execution)
      execution.begin()
    }
  }
}

/// How a run ends.
private enum RunEnd<Failure: Error>: Error {
  case finished
  case failed(Failure)
}

/// The runs of one subscription.
private final class RepeatExecution<Upstream: Publisher, Context: Scheduler, Downstream: Subscriber, Failure: Error>:
  Attempts<Upstream, Downstream>, CustomStringConvertible
where
  Downstream.Input == Upstream.Output,
  Downstream.Failure == Upstream.Failure,
  Upstream.Failure == RunEnd<Failure>
{
  private let scheduler: Context
  private let options: Context.SchedulerOptions?
  /// Written back after each decision, of which one is open at a time; `nil` when it is over.
  private var machine: RepeatMachine?

  init(
    upstream: Upstream,
    _ policy: RepeatPolicy,
    _ scheduler: Context,
    _ options: Context.SchedulerOptions?,
    downstream: Downstream
  ) {
    self.scheduler = scheduler
    self.options = options
    machine = RepeatMachine(policy)
    super.init(upstream: upstream, downstream: downstream)
  }

  var description: String { "Repeat" }

  override func attemptFailed(_ attempt: Int, with end: RunEnd<Failure>) {
    // A copy, since the policy's closures run in it and may come back here, to cancel.
    guard case .finished = end, var machine = lock.withLock({ machine }), let pause = machine.finished() else {
      return self.end(with: .failure(end), after: attempt)
    }
    lock.withLock { if self.machine != nil { self.machine = machine } }
    guard pause > .zero else { return resume(after: attempt) }
    // The downstream may have cancelled while the policy was being asked.
    guard openQuestion == attempt else { return }
    // If it fired on another thread, or synchronously, or the downstream cancelled, holding it stops it.
    hold(scheduler.timer(after: pause, options: options) { self.resume(after: attempt) }, after: attempt)
  }

  override func letGo(_ completion: Subscribers.Completion<RunEnd<Failure>>?) {
    let rest = lock.withLock {
      let rest = machine
      machine = nil
      return rest
    }
    withExtendedLifetime(rest) {}
  }
}

/// Hands everything to a subscriber that knows nothing of runs.
private final class RunEndSubscriber<Downstream: Subscriber>: Subscriber, CustomStringConvertible {
  private let downstream: Downstream

  init(_ downstream: Downstream) {
    self.downstream = downstream
  }

  var description: String { "Repeat" }

  func receive(subscription: any Subscription) {
    downstream.receive(subscription: subscription)
  }

  func receive(_ input: Downstream.Input) -> Subscribers.Demand {
    downstream.receive(input)
  }

  func receive(completion: Subscribers.Completion<RunEnd<Downstream.Failure>>) {
    switch completion {
    case .finished, .failure(.finished): downstream.receive(completion: .finished)
    case .failure(.failed(let error)): downstream.receive(completion: .failure(error))
    }
  }
}
