#if Redis
  import Rebound

  extension Fleet: PolicyObservable {
    /// That of fleets.
    public static var kind: PolicyKind { .fleet }

    /// Tells one more observer when the server decides, and when not.
    public func onDecision(_ observer: @escaping @Sendable (any PolicyDecision) -> Void) {
      onEvent { observer($0) }
    }
  }
#endif
