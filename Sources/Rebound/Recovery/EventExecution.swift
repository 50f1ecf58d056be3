import Combine
import StreamSupport

/// Stands between an upstream and one subscriber for whom the end is a value, and knows how much the subscriber is owed.
///
/// The lock guards `phase` and `owed`, and no foreign code runs under it: a phase that is replaced is handed out, so that
/// what it holds is released with the lock open.
final class EventExecution<Upstream: Publisher, Downstream: Subscriber>: Subscriber, Subscription
where Downstream.Failure == Never {
  private enum Phase {
    case ready(Downstream)
    case running(Downstream, any Subscription)
    /// The upstream has ended, and the value that tells so waits for a request.
    case holding(Downstream, Downstream.Input)
    /// That value is being delivered, and the finish follows unless the downstream cancels.
    case ending(Downstream)
    case over
  }

  let description: String
  private let value: (Upstream.Output) -> Downstream.Input
  private let terminal: (Subscribers.Completion<Upstream.Failure>) -> Downstream.Input?

  private let lock = Lock()
  private var phase: Phase
  /// What the downstream has requested and not yet received.
  private var owed = Subscribers.Demand.none

  /// - Parameters:
  ///   - terminal: The value for an end; `nil` if it is to be followed by the finish at once.
  init(
    named description: String,
    downstream: Downstream,
    value: @escaping (Upstream.Output) -> Downstream.Input,
    terminal: @escaping (Subscribers.Completion<Upstream.Failure>) -> Downstream.Input?
  ) {
    self.description = description
    self.value = value
    self.terminal = terminal
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
    guard let more = downstream?.receive(value(input)), more > .none else { return .none }
    let isRunning = lock.withLock {
      guard case .running = phase else { return false }
      owed += more
      return true
    }
    if isRunning { return more }
    // The upstream ended from inside the downstream, and the value for that may be waiting for just this demand.
    request(more)
    return .none
  }

  func receive(completion: Subscribers.Completion<Upstream.Failure>) {
    let last = terminal(completion)
    let before: Phase = lock.withLock {
      let before = phase
      if case .running(let downstream, _) = before { phase = last.map { .holding(downstream, $0) } ?? .over }
      return before
    }
    guard case .running(let downstream, _) = before else { return }
    if last == nil { downstream.receive(completion: .finished) } else { deliverLastIfOwed() }
  }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let subscription: (any Subscription)? = lock.withLock {
      owed += demand
      guard case .running(_, let subscription) = phase else { return nil }
      return subscription
    }
    if let subscription { subscription.request(demand) } else { deliverLastIfOwed() }
  }

  func cancel() {
    if case .running(_, let subscription) = end() { subscription.cancel() }
  }

  private func deliverLastIfOwed() {
    let held: (Downstream, Downstream.Input)? = lock.withLock {
      guard case .holding(let downstream, let last) = phase, owed > .none else { return nil }
      phase = .ending(downstream)
      return (downstream, last)
    }
    guard let (downstream, last) = held else { return }
    _ = downstream.receive(last)
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

extension EventExecution: CustomStringConvertible {}
