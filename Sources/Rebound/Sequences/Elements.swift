import Combine

extension Publishers {
  /// Publishes the elements of an asynchronous sequence.
  ///
  ///     Publishers.Elements(of: client.forecasts(for: city))
  ///
  /// Each subscriber has an iterator of its own, in a task of its own, which is cancelled with the subscription. A sequence
  /// that can be iterated only once (`AsyncStream`) has nothing left for the second subscriber.
  ///
  /// - Demand: One element is asked of the iterator for each value that is owed, none ahead.
  /// - Failure: What the iterator throws. What it throws or returns after a cancel is dropped.
  /// - Threads: On the global executor, or where the iterator returns.
  public struct Elements<Base: AsyncSequence & Sendable>: Publisher where Base.Element: Sendable {
    /// The elements.
    public typealias Output = Base.Element
    /// What the iterator throws.
    public typealias Failure = any Error

    /// The sequence.
    public let base: Base

    /// Makes a publisher of the elements of a sequence.
    ///
    /// - Parameter base: Iterated anew for each subscriber.
    public init(of base: Base) {
      self.base = base
    }

    /// Begins to iterate on behalf of this subscriber, once it asks.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let owed = OwedElements<Emitter<Output, Failure>>()
      let task = Task { [base] in await pull(base, as: owed) }
      Emitter(named: "Elements", to: subscriber)
        .begin(
          whenRequested: { owed.add($1, of: $0) },
          whenCancelled: {
            owed.close()
            task.cancel()
          }
        )
    }
  }
}

/// Asks for one element after the other, each when it is owed.
///
/// It holds the emitter only while an element is owed. So the task ends where nobody is left who could ask for more.
private func pull<Base: AsyncSequence & Sendable>(
  _ base: Base,
  as owed: OwedElements<Emitter<Base.Element, any Error>>
) async where Base.Element: Sendable {
  var iterator: Base.AsyncIterator?
  while let emitter = await owed.next() {
    do {
      if iterator == nil { iterator = base.makeAsyncIterator() }
      guard let element = try await iterator?.next() else { return emitter.send(completion: .finished) }
      emitter.send(element)
    } catch {
      return emitter.send(completion: .failure(error))
    }
  }
}
