extension CircuitBreaker {
  /// Its name.
  public var descriptor: StageDescriptor { StageDescriptor(.circuitBreaker, name: name) }

  /// One call must not ask it twice, and must not be retried while it refuses.
  public var traits: StageTraits {
    var traits = StageTraits(descriptor: descriptor, sharedObject: self)
    traits.refusesAfterFailures = true
    return traits
  }

  /// Lets its events and its gauge be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    adopt(name: pipeline)
    events?.watch(self)
  }
}

extension Bulkhead {
  /// Its name.
  ///
  /// How many may run changes where the limit is adaptive, so it is a gauge and no parameter.
  public var descriptor: StageDescriptor { StageDescriptor(.bulkhead, name: name) }

  /// One call must not ask it twice; where the limit is adaptive, it goes by failures that say that there is too much to do.
  public var traits: StageTraits {
    var traits = StageTraits(descriptor: descriptor, sharedObject: self)
    traits.livesOnFailures = isAdaptive
    return traits
  }

  /// Lets its events and its gauge be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    adopt(name: pipeline)
    events?.watch(self)
  }
}

extension RateLimiter {
  /// Its name.
  public var descriptor: StageDescriptor { StageDescriptor(.rateLimiter, name: name) }

  /// One call must not ask it twice.
  public var traits: StageTraits { StageTraits(descriptor: descriptor, sharedObject: self) }

  /// Lets its events and its gauge be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    events?.watch(self)
  }
}
