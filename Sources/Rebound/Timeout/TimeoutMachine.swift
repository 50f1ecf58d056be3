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
    guard let nearest = nearest(situation) else { return .rest }
    if nearest.due > situation.elapsed { return .wait(until: nearest.due) }
    let error = TimedOut(
      nearest.kind,
      limit: nearest.limit,
      elapsed: situation.elapsed,
      values: situation.values,
      name: policy.name
    )
    return .expired(error)
  }

  /// When the limit is reached that is reached first; `nil` if none runs.
  package func due(waitingSince: Duration?, values: Int) -> Duration? {
    nearest(Situation(waitingSince: waitingSince, values: values))?.due
  }

  private struct Limit {
    let kind: TimedOut.Kind
    let limit: Duration
    let due: Duration
  }

  /// The limit that is reached first; of equal ones the one for more.
  private func nearest(_ situation: Situation) -> Limit? {
    var nearest: Limit?
    func add(_ kind: TimedOut.Kind, _ limit: Duration?, since start: Duration) {
      guard let limit else { return }
      let due = start + limit
      if let nearest, nearest.due <= due { return }
      nearest = Limit(kind: kind, limit: limit, due: due)
    }
    add(.total, policy.total, since: .zero)
    add(.attempt, policy.attempt, since: .zero)
    if let since = situation.waitingSince {
      if situation.values == 0, let limit = policy.firstValue {
        add(.firstValue, limit, since: since)
      } else {
        add(.betweenValues, policy.betweenValues, since: since)
      }
    }
    return nearest
  }
}
