import Combine
import StreamSupport

/// How an execution that was let in has ended.
enum ExecutionEnd {
  case finished
  case failed(any Error)
  case cancelled
}

/// What stands before an upstream, and lets one subscription in or refuses it.
struct Admission<Grant, Upstream: Publisher> {
  /// For the subscription's description.
  let name: String
  /// Asks to be let in.
  ///
  /// The answer comes at most once, now or later, on any thread. What is returned is cancelled if nobody waits for the
  /// answer any more.
  let ask: (_ answer: @escaping (Result<Grant, Upstream.Failure>) -> Void) -> (any Cancellable)?
  /// Makes what is subscribed to once it is let in.
  let upstream: (Grant) -> Upstream
  /// Takes the grant back, exactly once for each, before the end is delivered.
  let settle: (Grant, ExecutionEnd) -> Void
}

/// One subscription that is let in before its upstream is subscribed to.
///
/// The downstream has its subscription from the start; what it requests while it waits is asked of the upstream later,
/// so nothing is held for it meanwhile.
///
/// The lock guards `phase` and `owed`, and no foreign code runs under it: a phase that is replaced is handed out, so that
/// what it holds is released with the lock open.
final class AdmissionExecution<Grant, Upstream: Publisher, Downstream: Subscriber>: Subscriber, Subscription,
  CustomStringConvertible
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  private enum Phase {
    case asking(Admission<Grant, Upstream>, Downstream, waiter: (any Cancellable)?)
    case subscribing(Held)
    case running(Held, any Subscription)
    case over
  }

  /// What is held while the upstream runs.
  private struct Held {
    let grant: Grant
    let settle: (Grant, ExecutionEnd) -> Void
    let downstream: Downstream
  }

  let description: String
  private let lock = Lock()
  private var phase: Phase
  /// What the downstream has requested before there was an upstream.
  private var owed = Subscribers.Demand.none

  private init(_ admission: Admission<Grant, Upstream>, downstream: Downstream) {
    description = admission.name
    phase = .asking(admission, downstream, waiter: nil)
  }

  /// Gives the downstream its subscription, and asks.
  static func begin(_ admission: Admission<Grant, Upstream>, downstream: Downstream) {
    let execution = AdmissionExecution(admission, downstream: downstream)
    downstream.receive(subscription: execution)
    // The downstream may have cancelled already.
    guard case .asking = execution.lock.withLock({ execution.phase }) else { return }
    guard let waiter = admission.ask({ execution.answered($0, settle: admission.settle) }) else { return }
    execution.keep(waiter)
  }

  private func keep(_ waiter: any Cancellable) {
    let isAsking = lock.withLock {
      guard case .asking(let admission, let downstream, _) = phase else { return false }
      phase = .asking(admission, downstream, waiter: waiter)
      return true
    }
    if !isAsking { waiter.cancel() }
  }

  private func answered(_ answer: Result<Grant, Upstream.Failure>, settle: (Grant, ExecutionEnd) -> Void) {
    let before: Phase = lock.withLock {
      let before = phase
      guard case .asking(let admission, let downstream, _) = before else { return before }
      switch answer {
      case .success(let grant):
        phase = .subscribing(Held(grant: grant, settle: admission.settle, downstream: downstream))
      case .failure:
        phase = .over
      }
      return before
    }
    switch (before, answer) {
    case (.asking(let admission, _, _), .success(let grant)):
      admission.upstream(grant).subscribe(self)
    case (.asking(_, let downstream, _), .failure(let error)):
      downstream.receive(completion: .failure(error))
    case (_, .success(let grant)):
      // Cancelled before the grant came, or a second answer.
      settle(grant, .cancelled)
    case (_, .failure):
      break
    }
  }

  // MARK: What the upstream tells

  func receive(subscription: any Subscription) {
    let demand: Subscribers.Demand? = lock.withLock {
      guard case .subscribing(let held) = phase else { return nil }
      phase = .running(held, subscription)
      return owed
    }
    guard let demand else { return subscription.cancel() }
    if demand > .none { subscription.request(demand) }
  }

  func receive(_ input: Upstream.Output) -> Subscribers.Demand {
    guard case .running(let held, _) = lock.withLock({ phase }) else { return .none }
    return held.downstream.receive(input)
  }

  func receive(completion: Subscribers.Completion<Upstream.Failure>) {
    let held: Held
    switch end() {
    case .running(let running, _): held = running
    // An upstream that ends without a subscription breaks the rules, but must not keep the grant for ever.
    case .subscribing(let subscribing): held = subscribing
    case .asking, .over: return
    }
    switch completion {
    case .finished: held.settle(held.grant, .finished)
    case .failure(let error): held.settle(held.grant, .failed(error))
    }
    held.downstream.receive(completion: completion)
  }

  // MARK: What the downstream asks

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let subscription: (any Subscription)? = lock.withLock {
      if case .running(_, let subscription) = phase { return subscription }
      owed += demand
      return nil
    }
    subscription?.request(demand)
  }

  func cancel() {
    switch end() {
    case .asking(_, _, let waiter): waiter?.cancel()
    case .subscribing(let held): held.settle(held.grant, .cancelled)
    case .running(let held, let subscription):
      subscription.cancel()
      held.settle(held.grant, .cancelled)
    case .over: break
    }
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
