#if Redis
  import Rebound

  extension FleetBulkhead {
    /// Its name.
    public var descriptor: StageDescriptor { StageDescriptor(.bulkhead, name: name) }

    /// One call must not ask it twice.
    public var traits: StageTraits { StageTraits(descriptor: descriptor, sharedObject: self) }

    /// Tells one more observer what is decided here, in order, with no lock held; what runs elsewhere is not counted.
    @discardableResult
    public func onEvent(_ observer: @escaping @Sendable (BulkheadEvent) -> Void) -> FleetBulkhead {
      onEvent(to: .always, observer)
      return self
    }

    /// Lets its events, and those of the fleet, be seen.
    public func register(with events: PolicyEvents?, pipeline: String) {
      events?.watch(self)
      events?.watch(fleet)
    }
  }

  extension FleetBulkhead: AttentiveObservable {
    /// That of bulkheads.
    public static var kind: PolicyKind { .bulkhead }
    /// Its ``snapshot``.
    public var reading: (any PolicyReading)? { snapshot }

    /// Tells one more observer what is decided here.
    public func onDecision(_ observer: @escaping @Sendable (any PolicyDecision) -> Void) {
      onDecision(to: .always, observer)
    }

    package func onDecision(to audience: Audience, _ observer: @escaping @Sendable (any PolicyDecision) -> Void) {
      onEvent(to: audience) { observer($0) }
    }
  }
#endif
