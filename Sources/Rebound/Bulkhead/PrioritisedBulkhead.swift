import Combine

extension Bulkhead {
  /// The same bulkhead for calls that are let in sooner, or later, than others, if the policy goes by priority.
  ///
  /// - Parameter priority: The higher, the sooner; zero for all others.
  public func prioritised(_ priority: Int) -> PrioritisedBulkhead {
    PrioritisedBulkhead(bulkhead: self, priority: priority)
  }
}

/// A bulkhead for calls of one priority.
public struct PrioritisedBulkhead: AdmissionControl, Policy {
  let bulkhead: Bulkhead
  let priority: Int

  /// What the bulkhead is.
  public var descriptor: StageDescriptor { bulkhead.descriptor }

  /// Those of the bulkhead.
  public var traits: StageTraits { bulkhead.traits }

  /// Lets the events and the gauge of the bulkhead be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    bulkhead.register(with: events, pipeline: pipeline)
  }

  /// Takes a place if one is free, and nobody listens.
  public func admitAtOnce(_ execution: ExecutionContext) -> Bulkhead.Place? { bulkhead.admitAtOnce(execution) }

  /// Asks for a place.
  public func ask(
    _ execution: ExecutionContext,
    _ answer: @escaping @Sendable (Result<Bulkhead.Place, any Error>) -> Void
  ) -> (any Cancellable)? {
    bulkhead.ask(priority: priority, time: execution.time, deadline: execution.deadline, answer)
  }

  /// Gives the place to the next one.
  public func settle(_ place: Bulkhead.Place, _ end: ExecutionEnd, _ execution: ExecutionContext) {
    bulkhead.settle(place, end, execution)
  }
}
