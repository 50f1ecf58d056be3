#if Redis
  import Rebound

  extension FleetRateLimiter {
    /// Its name.
    public var descriptor: StageDescriptor { StageDescriptor(.rateLimiter, name: name) }

    /// One call must not ask it twice.
    public var traits: StageTraits { StageTraits(descriptor: descriptor, sharedObject: self) }

    /// Tells one more observer what is decided here, in order, with no lock held.
    @discardableResult
    public func onEvent(_ observer: @escaping @Sendable (RateLimiterEvent) -> Void) -> FleetRateLimiter {
      onEvent(to: .always, observer)
      return self
    }

    /// Lets its events, and those of the fleet, be seen.
    public func register(with events: PolicyEvents?, pipeline: String) {
      events?.watch(self)
      events?.watch(fleet)
    }
  }

  extension FleetRateLimiter: EventTelling {}
#endif
