#if Redis
  import Rebound

  extension FleetRateLimiter {
    /// Its name.
    public var descriptor: StageDescriptor { StageDescriptor(.rateLimiter, name: name) }

    /// One call must not ask it twice.
    public var traits: StageTraits { StageTraits(descriptor: descriptor, sharedObject: self) }

    /// Lets its events, and those of the fleet, be seen.
    public func register(with events: PolicyEvents?, pipeline: String) {
      events?.watch(self)
      events?.watch(fleet)
    }
  }

  extension FleetRateLimiter: PolicyObservable {
    /// That of rate limiters.
    public static var kind: PolicyKind { .rateLimiter }

    /// Tells one more observer what is decided here.
    public func onDecision(_ observer: @escaping @Sendable (any PolicyDecision) -> Void) {
      onEvent { observer($0) }
    }
  }
#endif
