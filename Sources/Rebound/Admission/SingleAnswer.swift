import Combine
import StreamSupport

/// The subscription of a source with one answer: asks for it once a value is requested, delivers it, and finishes.
///
/// The downstream is called by one thread, that of the answer.
final class SingleAnswer<Output, Failure: Error>: Subscription, CustomStringConvertible, Sendable {
  typealias Downstream = AnySubscriber<Output, Failure>
  /// Asks, and returns what to cancel if nobody waits any more.
  typealias Ask = @Sendable (_ answer: @escaping @Sendable (Result<Output, Failure>) -> Void) -> (any Cancellable)?

  private enum Phase {
    case ready(Ask, Downstream)
    /// There is nothing to cancel yet while it is being asked.
    case asked(Downstream, (any Cancellable)?)
    case over
  }

  let description: String
  private let phase: Locked<Phase>

  init(named description: String, _ downstream: Downstream, asking ask: @escaping Ask) {
    self.description = description
    phase = Locked(.ready(ask, downstream))
  }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let ask: Ask? = phase.withLock { phase in
      guard case .ready(let ask, let downstream) = phase else { return nil }
      phase = .asked(downstream, nil)
      return ask
    }
    guard let pending = ask?({ self.deliver($0) }) else { return }
    let isWanted = phase.withLock { phase in
      guard case .asked(let downstream, _) = phase else { return false }
      phase = .asked(downstream, pending)
      return true
    }
    // Cancelled meanwhile, or already over.
    if !isWanted { pending.cancel() }
  }

  func cancel() {
    let before = end()
    if case .asked(_, let pending?) = before { pending.cancel() }
    withExtendedLifetime(before) {}
  }

  private func deliver(_ result: Result<Output, Failure>) {
    guard case .asked(let downstream, _) = phase.withLock({ $0 }) else { return }
    var completion = Subscribers.Completion<Failure>.finished
    switch result {
    case .success(let value): _ = downstream.receive(value)
    case .failure(let error): completion = .failure(error)
    }
    // The downstream may have cancelled from inside the value.
    guard case .asked = end() else { return }
    downstream.receive(completion: completion)
  }

  private func end() -> Phase {
    phase.withLock { phase in
      let before = phase
      phase = .over
      return before
    }
  }
}
