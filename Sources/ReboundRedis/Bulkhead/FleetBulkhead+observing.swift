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

  extension FleetBulkhead: EventTelling {
    /// Its ``snapshot``.
    public var reading: (any PolicyReading)? { snapshot }
  }
#endif
