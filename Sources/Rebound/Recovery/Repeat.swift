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
      let execution = RepeatExecution(self, downstream: subscriber)
      subscriber.receive(subscription: execution)
      execution.begin()
    }
  }
}

/// The runs of one subscription.
private final class RepeatExecution<Upstream: Publisher, Context: Scheduler, Downstream: Subscriber>:
  Attempts<Upstream, Downstream>, CustomStringConvertible
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  private let scheduler: Context
  private let options: Context.SchedulerOptions?
  /// Written back after each decision, of which one is open at a time; `nil` when it is over.
  private var machine: RepeatMachine?

  init(_ recipe: Publishers.Repeat<Upstream, Context>, downstream: Downstream) {
    scheduler = recipe.scheduler
    options = recipe.options
    machine = RepeatMachine(recipe.policy)
    super.init(upstream: recipe.upstream, downstream: downstream)
  }

  var description: String { "Repeat" }

  override func attemptFinished(_ run: Int) {
    ask(after: run) {
      // A copy, since the policy's closures run in it and may come back here, to cancel.
      guard var machine = lock.withLock({ machine }), let pause = machine.finished() else {
        return end(with: .finished, after: run)
      }
      lock.withLock { if self.machine != nil { self.machine = machine } }
      guard pause > .zero else { return resume(after: run) }
      // The downstream may have cancelled while the policy was being asked.
      guard openQuestion == run else { return }
      // If it fired on another thread, or synchronously, or the downstream cancelled, holding it stops it.
      hold(scheduler.timer(after: pause, options: options) { self.resume(after: run) }, after: run)
    }
  }

  override func letGo(_ completion: Subscribers.Completion<Upstream.Failure>?) {
    let rest = lock.withLock {
      let rest = machine
      machine = nil
      return rest
    }
    withExtendedLifetime(rest) {}
  }
}
