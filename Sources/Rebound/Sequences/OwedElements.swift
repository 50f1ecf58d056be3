import Combine
import StreamSupport

/// How many elements a task is to pull, and for whom.
final class OwedElements<Owner: AnyObject & Sendable>: Sendable {
  private struct State {
    var demand = Subscribers.Demand.none
    /// Held while something is owed.
    var owner: Owner?
    // Whoever resumes it has taken it out before.
    var waiter: UnsafeContinuation<Owner?, Never>?
    var isOver = false

    /// For whom to pull one element now.
    mutating func takeOne() -> Owner? {
      guard demand > .none else { return nil }
      demand -= 1
      defer { if demand == .none { owner = nil } }
      return owner
    }
  }

  private let state = Locked(State())

  func add(_ demand: Subscribers.Demand, of owner: Owner) {
    let waiter: UnsafeContinuation<Owner?, Never>? = state.withLock { state in
      guard !state.isOver, demand > .none else { return nil }
      state.demand += demand
      state.owner = owner
      guard let waiter = state.waiter else { return nil }
      state.waiter = nil
      _ = state.takeOne()
      return waiter
    }
    waiter?.resume(returning: owner)
  }

  /// Waits until an element is owed; `nil` when none will be any more.
  func next() async -> Owner? {
    await withUnsafeContinuation { continuation in
      let owner: Owner?? = state.withLock { state in
        if state.isOver { return .some(nil) }
        if let owner = state.takeOne() { return owner }
        state.waiter = continuation
        return nil
      }
      if let owner { continuation.resume(returning: owner) }
    }
  }

  func close() {
    state.exchange(State(isOver: true)).waiter?.resume(returning: nil)
  }
}
