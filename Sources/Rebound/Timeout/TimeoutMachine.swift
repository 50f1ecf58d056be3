/// Decides when the limits of one execution are reached.
///
/// It has no clock, no lock and no memory; its owner tells it the time and what has happened.
package struct TimeoutMachine: Sendable {
  /// What is known about an execution at one moment.
  package struct Situation: Hashable, Sendable {
    /// How long the execution has run.
    package var elapsed: Duration
    /// Since when a value is owed and none has come; `nil` while none is owed.
    package var waitingSince: Duration?
    /// How many values have come.
    package var values: Int

    package init(elapsed: Duration = .zero, waitingSince: Duration? = nil, values: Int = 0) {
      self.elapsed = elapsed
      self.waitingSince = waitingSince
      self.values = values
    }
  }

  package enum Verdict: Hashable, Sendable {
    /// A limit is reached.
    case expired(TimedOut)
    /// None is reached before this moment.
    case wait(until: Duration)
    /// No limit runs.
    case rest
  }

  private let policy: TimeoutPolicy

  package init(_ policy: TimeoutPolicy) {
    self.policy = policy
  }

  /// Which limit comes first, and whether it is reached.
  package func verdict(_ situation: Situation) -> Verdict {
    guard let (kind, limit, due) = nearest(situation) else { return .rest }
    if due > situation.elapsed { return .wait(until: due) }
    let error = TimedOut(
      kind,
      limit: limit,
      elapsed: situation.elapsed,
      values: situation.values,
      name: policy.name
    )
    return .expired(error)
  }

  /// The limit that is reached first; of equal ones the one for more.
  private func nearest(_ situation: Situation) -> (kind: TimedOut.Kind, limit: Duration, due: Duration)? {
    var limits: [(kind: TimedOut.Kind, limit: Duration, due: Duration)] = []
    if let total = policy.total { limits.append((.total, total, total)) }
    if let attempt = policy.attempt { limits.append((.attempt, attempt, attempt)) }
    if let since = situation.waitingSince {
      if situation.values == 0, let limit = policy.firstValue {
        limits.append((.firstValue, limit, since + limit))
      } else if let limit = policy.betweenValues {
        limits.append((.betweenValues, limit, since + limit))
      }
    }
    return limits.min { $0.due < $1.due }
  }
}
