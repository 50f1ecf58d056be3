import Combine
import Observation
import StreamSupport

extension Publishers {
  /// Publishes what a closure reads of objects of Observation, now and after each change.
  ///
  ///     Publishers.Observed { model.userName }
  ///
  /// Whatever the closure reads of `@Observable` objects is observed, be it one property or several of several objects. It
  /// runs in the isolation in which it was written, such as the main actor's or that of an actor of one's own, and the
  /// objects are changed there, too. So the changes of one turn, up to where it suspends or returns, are one value: what
  /// holds after the last of them.
  ///
  /// - Demand: The first value is what the closure reads when one is owed. Each further value waits for a change since the
  ///   one before. What changes while nothing is owed is not kept: the next request gets what holds then, at once.
  /// - Failure: None. It does not end either: Observation does not tell of an object's release. A subscription holds
  ///   what the closure captures until it is cancelled; to let an object go before, capture it weakly.
  /// - Threads: In the isolation of the closure; for the main actor on the main thread.
  /// - Note: Values that are equal to the one before are not left out. A cancelled subscription leaves one entry of a few
  ///   words with each object until its next change, since an observation cannot be withdrawn.
  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  public struct Observed<Output: Sendable>: Publisher, Sendable {
    /// Reading does not fail.
    public typealias Failure = Never

    private let reading: IsolatedReading<Output>

    /// Observes what a closure reads in the isolation of the caller.
    ///
    /// - Parameters:
    ///   - isolation: Where the closure runs: the caller's. Without one, see ``guarded(_:)``.
    ///   - read: Reads of the objects what is published; short, as it runs twice for each value.
    public init(isolation: isolated any Actor = #isolation, _ read: @escaping () -> Output) {
      reading = IsolatedReading(isolation: isolation, read: read)
    }

    /// Observes what a closure reads of objects that belong to no actor, but to a lock.
    ///
    ///     Publishers.Observed.guarded { lock.withLock { model.count } }
    ///
    /// A change is announced before it is made. So the lock must be held around the whole assignment, not just inside of the
    /// setter: otherwise the closure may read the old value after the announcement, and the new one is only published
    /// with the next change.
    ///
    /// - Parameter read: Reads what is published under the lock; on the global executor, twice for each value. Which objects it
    ///   reads should not depend on what they hold: one that only its second run reads is not observed yet.
    public static func guarded(_ read: @escaping @Sendable () -> Output) -> Observed {
      Observed(reading: IsolatedReading(isolation: nil, read: read))
    }

    private init(reading: IsolatedReading<Output>) {
      self.reading = reading
    }

    /// Begins to observe on behalf of this subscriber, once it asks.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let owed = OwedElements<Emitter<Output, Failure>>()
      let task = Task { [reading] in await reading.publish(as: owed, in: reading.isolation) }
      Emitter(named: "Observed", to: subscriber)
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

/// A closure, and where it may run.
///
/// Unchecked, because the closure was written in this isolation, and runs nowhere else; without one it is `@Sendable`.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
private final class IsolatedReading<Value: Sendable>: @unchecked Sendable {
  let isolation: (any Actor)?
  private let read: () -> Value

  init(isolation: (any Actor)?, read: @escaping () -> Value) {
    self.isolation = isolation
    self.read = read
  }

  /// Reads and sends whenever a value is owed and something has changed since the last.
  func publish(as owed: OwedElements<Emitter<Value, Never>>, in isolation: isolated (any Actor)?) async {
    var change: Change?
    while let emitter = await owed.next() {
      await change?.untilItComes()
      guard !Task.isCancelled else { return }
      // In the place of the last before the value goes down: a subscriber may change what it has just been sent.
      let next = Change()
      change = next
      _ = withObservationTracking(read, onChange: { next.come() })
      // Observation begins to observe after it has read. What another thread has changed in between is only seen by reading again.
      emitter.send(read())
    }
  }
}

/// A change that is to come, and who waits for it.
private final class Change: Sendable {
  private struct State {
    var hasCome = false
    // Whoever resumes it has taken it out before.
    var waiter: UnsafeContinuation<Void, Never>?
  }

  private let state = Locked(State())

  func come() {
    state.exchange(State(hasCome: true)).waiter?.resume()
  }

  /// Returns after the change has come, or at once if the task is cancelled.
  func untilItComes(isolation: isolated (any Actor)? = #isolation) async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let hasCome = state.withLock { state in
          if !state.hasCome { state.waiter = continuation }
          return state.hasCome
        }
        if hasCome { continuation.resume() }
      }
    } onCancel: {
      come()
    }
  }
}
