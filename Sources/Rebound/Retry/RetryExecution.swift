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
    /// The value that the present attempt was given up for.
    var rejected: Upstream.Output?
  }

  private var holdings: Holdings?
  private let rejection: ((Upstream.Output) -> Upstream.Failure?)?

  init(_ recipe: Publishers.RetryWithPolicy<Upstream, Context>, downstream: Downstream) {
    holdings = Holdings(recipe: recipe, start: recipe.scheduler.now, machine: RetryMachine(recipe.policy))
    rejection = recipe.rejection
    super.init(
      upstream: recipe.upstream,
      downstream: downstream,
      skipsDelivered: recipe.policy.duplicates == .skipDelivered
    )
  }

  var description: String { "RetryWithPolicy" }

  override func receive(_ input: Upstream.Output, of attempt: Int) -> Subscribers.Demand {
    guard let rejection, isWaitedFor(attempt), let error = rejection(input) else {
      return super.receive(input, of: attempt)
    }
    lock.withLock { holdings?.rejected = input }
    fail(attempt, with: error, cancelling: true)
    return .none
  }

  override func attemptFailed(_ attempt: Int, with error: Upstream.Failure) {
    guard let holdings = lock.withLock({ holdings }) else { return }
    let elapsed = Duration(approximating: holdings.start.distance(to: holdings.recipe.scheduler.now))
    // A copy, since the policy's closures run in it and may come back here, to cancel.
    var machine = holdings.machine
    let action = machine.failed(with: error, elapsed: elapsed, delivered: deliveredCount)
    let isOver = lock.withLock {
      guard self.holdings != nil else { return true }
      self.holdings?.machine = machine
      self.holdings?.rejected = nil
      return false
    }
    // Nobody else knows what the policy has granted just now.
    if isOver { return machine.end(succeeded: false) }
    switch action {
    case .stop(let final):
      if holdings.recipe.lastValue == .isDelivered, let rejected = holdings.rejected {
        end(delivering: rejected, after: attempt)
      } else {
        end(with: .failure(final), after: attempt)
      }
    case .retry(after: .zero):
      machine.retryBegins()
      resume(after: attempt)
    case .retry(let delay):
      wait(delay, after: attempt, on: holdings.recipe, machine)
    }
  }

  override func letGo(_ completion: Subscribers.Completion<Upstream.Failure>?) {
    let rest = lock.withLock {
      let rest = holdings
      holdings = nil
      return rest
    }
    guard var machine = rest?.machine else { return }
    if case .finished = completion { machine.end(succeeded: true) } else { machine.end(succeeded: false) }
  }

  private func wait(
    _ delay: Duration,
    after attempt: Int,
    on recipe: Publishers.RetryWithPolicy<Upstream, Context>,
    _ machine: RetryMachine<Upstream.Failure>
  ) {
    // The downstream may have cancelled while the policy was being asked.
    guard openQuestion == attempt else { return }
    // A repeating timer, stopped when it first fires, since a scheduler's one-shot cannot be cancelled.
    let interval = Context.SchedulerTimeType.Stride(delay)
    let timer = recipe.scheduler.schedule(
      after: recipe.scheduler.now.advanced(by: interval),
      interval: interval,
      tolerance: recipe.scheduler.minimumTolerance,
      options: recipe.options
    ) {
      machine.retryBegins()
      self.resume(after: attempt)
    }
    // If it fired on another thread, or synchronously, or the downstream cancelled, this stops it.
    hold(timer, after: attempt)
  }
}
