import StreamSupport

/// State that executions share, and who is told what is decided about it.
///
/// Events are told in the order of the decisions, one at a time, with the lock open, on the thread of one of those who
/// decide; before the decision is acted on, unless another thread is telling just then.
///
/// Unchecked, because the lock guards all that changes, and no foreign code runs under it: a body passed to ``change(_:)``
/// calls none, and returns what it takes out of the state, so that it is released with the lock open.
package final class Shared<State, Event: Sendable>: @unchecked Sendable {
  private let lock = Lock()
  private var state: State
  private var observers: [@Sendable (Event) -> Void] = []
  /// What is decided and not told yet, and whether some thread is telling it.
  private var untold: [Event] = []
  private var isTelling = false

  package init(_ state: State) {
    self.state = state
  }

  /// Reads the state.
  package func read<Result>(_ body: (State) -> Result) -> Result {
    lock.withLock { body(state) }
  }

  /// Tells one more observer from now on.
  package func observe(_ observer: @escaping @Sendable (Event) -> Void) {
    lock.withLock { observers.append(observer) }
  }

  /// Changes the state, then tells the events that the body has added.
  package func change<Result, Failure: Error>(
    _ body: (inout State, inout [Event]) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var events: [Event] = []
    lock.lock()
    let result: Result
    do {
      result = try body(&state, &events)
    } catch {
      let tells = addLocked(events)
      lock.unlock()
      if tells { tell() }
      throw error
    }
    let tells = addLocked(events)
    lock.unlock()
    if tells { tell() }
    return result
  }

  private func addLocked(_ events: [Event]) -> Bool {
    guard !observers.isEmpty else { return false }
    untold += events
    guard !untold.isEmpty, !isTelling else { return false }
    isTelling = true
    return true
  }

  private func tell() {
    while let (event, observers) = nextUntold() {
      for observer in observers { observer(event) }
    }
  }

  private func nextUntold() -> (Event, [@Sendable (Event) -> Void])? {
    lock.withLock {
      guard !untold.isEmpty else {
        isTelling = false
        return nil
      }
      return (untold.removeFirst(), observers)
    }
  }
}
