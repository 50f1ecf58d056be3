import Combine
import StreamSupport

/// The attempts of one subscription, as a retry policy decides on them.
final class RetryExecution<Upstream: Publisher, Context: Scheduler, Downstream: Subscriber>:
  Attempts<Upstream, Downstream>, CustomStringConvertible
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  /// What an execution holds until it is over.
  private struct Holdings {
    let recipe: Publishers.RetryWithPolicy<Upstream, Context>
    let start: Context.SchedulerTimeType
    /// Written back after each decision; one is open at a time.
    var machine: RetryMachine<Upstream.Failure>
  }

  private var holdings: Holdings?

  init(_ recipe: Publishers.RetryWithPolicy<Upstream, Context>, downstream: Downstream) {
    holdings = Holdings(recipe: recipe, start: recipe.scheduler.now, machine: RetryMachine(recipe.policy))
    super.init(upstream: recipe.upstream, downstream: downstream)
  }

  var description: String { "RetryWithPolicy" }

  override func attemptFailed(_ attempt: Int, with error: Upstream.Failure) {
    guard let holdings = lock.withLock({ holdings }) else { return }
    let elapsed = Duration(approximating: holdings.start.distance(to: holdings.recipe.scheduler.now))
    // A copy, since the policy's closures run in it and may come back here, to cancel.
    var machine = holdings.machine
    let action = machine.failed(with: error, elapsed: elapsed)
    lock.withLock { self.holdings?.machine = machine }
    switch action {
    case .stop(let final): end(with: .failure(final), after: attempt)
    case .retry(after: .zero): resume(after: attempt)
    case .retry(let delay): wait(delay, after: attempt, on: holdings.recipe)
    }
  }

  override func letGo() {
    let rest = lock.withLock {
      let rest = holdings
      holdings = nil
      return rest
    }
    withExtendedLifetime(rest) {}
  }

  private func wait(_ delay: Duration, after attempt: Int, on recipe: Publishers.RetryWithPolicy<Upstream, Context>) {
    // The downstream may have cancelled while the policy was being asked.
    guard openQuestion == attempt else { return }
    // A repeating timer, stopped when it first fires, since a scheduler's one-shot cannot be cancelled.
    let interval = Context.SchedulerTimeType.Stride(delay)
    let timer = recipe.scheduler.schedule(
      after: recipe.scheduler.now.advanced(by: interval),
      interval: interval,
      tolerance: recipe.scheduler.minimumTolerance,
      options: recipe.options
    ) { self.resume(after: attempt) }
    // If it fired on another thread, or synchronously, or the downstream cancelled, this stops it.
    hold(timer, after: attempt)
  }
}
