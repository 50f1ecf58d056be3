/// Finds out how many calls a service bears.
///
/// It has no clock and no lock.
package struct AdaptiveLimitMachine: Hashable, Sendable {
  /// How many calls the long-term duration looks back on, once there were as many.
  private static let memory = 600.0
  /// With how many calls it begins to.
  private static let warmUp = 10.0

  private let policy: AdaptiveLimitPolicy
  private var exact: Double
  /// The long-term duration in seconds, and of how many calls.
  private var usual = 0.0
  private var calls = 0.0

  package init(_ policy: AdaptiveLimitPolicy, initial: Int) {
    self.policy = policy
    exact = Double(min(max(initial, policy.range.lowerBound), policy.range.upperBound))
  }

  /// How many calls may run.
  package var limit: Int { Int(exact) }

  /// A call has ended that says something about the service.
  ///
  /// - Parameters:
  ///   - duration: How long it took.
  ///   - running: How many ran when it began, itself included.
  ///   - isOverload: Whether it failed because the service had too much to do.
  package mutating func add(duration: Duration, running: Int, isOverload: Bool) {
    switch policy.kind {
    case .aimd(let decrease, let slow):
      if isOverload || slow.map({ duration >= $0 }) ?? false {
        // From whole numbers, so that each overload takes at least one away.
        move(to: (exact.rounded(.down) * decrease).rounded(.down))
      } else if isInUse(running) {
        move(to: exact + 1)
      }

    case .gradient(let tolerance, let smoothing, let headroom):
      let gradient: Double
      if isOverload {
        gradient = 0.5
      } else {
        let seconds = max(duration.inSeconds, 1e-9)
        learn(seconds)
        guard isInUse(running) else { return }
        gradient = min(max(tolerance * usual / seconds, 0.5), 1)
      }
      let target = exact * gradient + (isOverload ? 0 : Double(headroom))
      move(to: exact * (1 - smoothing) + target * smoothing)
    }
  }

  /// More are tried only if as many as there are come near to being used.
  private func isInUse(_ running: Int) -> Bool {
    Double(running) * 2 >= exact.rounded(.down)
  }

  private mutating func learn(_ seconds: Double) {
    calls = min(calls + 1, Self.memory)
    if calls <= Self.warmUp {
      usual += (seconds - usual) / calls
    } else {
      usual += (seconds - usual) * 2 / (calls + 1)
    }
    // After a time of overload what is usual has grown with it, and comes down faster than it went up.
    if usual > seconds * 2 { usual *= 0.95 }
  }

  private mutating func move(to limit: Double) {
    exact = min(max(limit, Double(policy.range.lowerBound)), Double(policy.range.upperBound))
  }
}
