import StreamSupport

/// The account of a retry budget in memory.
final class LocalRetryAccount: RetryAccount {
  private struct State: Sendable {
    var ledger: RetryBudgetLedger
    var granted = 0
    var denied = 0
  }

  private let state: Locked<State>

  init(_ kind: RetryBudgetLedger.Kind) {
    state = Locked(State(ledger: RetryBudgetLedger(kind)))
  }

  func snapshot(at now: Duration) -> RetryBudget.Snapshot {
    state.withLock { state in
      var ledger = state.ledger
      ledger.move(to: now)
      return RetryBudget.Snapshot(
        available: ledger.available,
        queued: ledger.waiting,
        granted: state.granted,
        denied: state.denied
      )
    }
  }

  func begin(at now: Duration) {
    state.withLock { state in
      state.ledger.move(to: now)
      state.ledger.begin()
    }
  }

  func fail() {
    state.withLock { $0.ledger.fail() }
  }

  func succeed(afterRetry: Bool) {
    state.withLock { $0.ledger.succeed(afterRetry: afterRetry) }
  }

  func grant(at now: Duration) -> RetryBudget.Retry? {
    let isGranted = state.withLock { state in
      state.ledger.move(to: now)
      let isGranted = state.ledger.grant()
      if isGranted { state.granted += 1 } else { state.denied += 1 }
      return isGranted
    }
    guard isGranted else { return nil }
    return RetryBudget.Retry { begins, now in
      self.state.withLock { state in
        if let now { state.ledger.move(to: now) }
        state.ledger.settle(begins: begins)
      }
    }
  }
}
