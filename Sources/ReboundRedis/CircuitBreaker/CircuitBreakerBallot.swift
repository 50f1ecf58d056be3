#if Redis
  /// Where the members of a fleet say what their breakers have found, and learn what all have: one member's side of it.
  protocol CircuitBreakerBallot: Sendable {
    /// Takes this member's vote in place of its last, and says whether enough have found the service sick.
    ///
    /// - Parameters:
    ///   - isFor: Whether this member has found it sick.
    ///   - answer: Called at most once, where observers of breakers may be called; gets the opening that holds now, and
    ///     `nil` if there is none, or if nobody can be asked.
    func vote(_ isFor: Bool, answer: @escaping @Sendable (CircuitBreakerOpening?) -> Void)
  }

  /// All members' breakers are open.
  struct CircuitBreakerOpening: Hashable, Sendable {
    /// What tells it from others of the same breaker.
    let name: String
    /// For how long it holds yet.
    let left: Duration
  }
#endif
