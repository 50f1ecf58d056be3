import Combine
import Dispatch
import StreamSupport

/// State that executions share, and who is told what is decided about it.
///
/// Events are told in the order of the decisions, one at a time, with the lock open, on the thread of one of those who
/// decide; before the decision is acted on, unless another thread is telling just then. Where others decide as fast as it
/// tells, a thread of the system's goes on in its place after a while.
///
/// A body passed to ``change(_:)`` calls no foreign code, and returns what it takes out of the state, so that it is
/// released with the lock open.
@usableFromInline
package final class Shared<State, Event: Sendable>: Sendable {
  @usableFromInline struct Observer {
    /// Who listens to it; while nobody does, it is not called.
    @usableFromInline let audience: Audience
    @usableFromInline let tell: @Sendable (Event) -> Void

    @inlinable
    init(_ audience: Audience, _ tell: @escaping @Sendable (Event) -> Void) {
      (self.audience, self.tell) = (audience, tell)
    }
  }

  @usableFromInline struct Guarded {
    @usableFromInline var state: State
    @usableFromInline var observers: [Observer] = []
    /// What is decided and not told yet, and who tells it.
    @usableFromInline var untold = Queue<Event>()
    @usableFromInline var loop = DrainLoop()

    @inlinable
    init(_ state: State) { self.state = state }

    @inlinable var isListened: Bool { observers.contains { $0.audience.isThere } }

    /// - Returns: Whether the caller has to tell.
    @inlinable
    mutating func add(_ decided: UntoldEvents<Event>) -> Bool {
      guard decided.isListened else { return false }
      for event in decided.events { untold.append(event) }
      return !untold.isEmpty && loop.enter()
    }

    @inlinable
    mutating func takeNext() -> (Event, [Observer])? {
      untold.popFirst().map { ($0, observers) }
    }
  }

  @usableFromInline let guarded: Locked<Guarded>

  @inlinable
  package init(_ state: State) {
    guarded = Locked(Guarded(state))
  }

  /// Reads the state.
  @inlinable
  package func read<Result>(_ body: (State) -> Result) -> Result {
    guarded.withLock { body($0.state) }
  }

  /// Changes the state where there is nothing to tell.
  ///
  /// - Parameter body: Also gets whether anybody listens: if so, and there is something to tell, it leaves the change to
  ///   ``change(_:)``.
  @inlinable
  package func adjust<Result>(_ body: (_ state: inout State, _ isListened: Bool) -> Result) -> Result {
    guarded.withLock { body(&$0.state, $0.isListened) }
  }

  /// Tells one more observer from now on, while somebody listens to it; those to whom nobody will listen again go.
  @inlinable
  package func observe(for audience: Audience = .always, _ observer: @escaping @Sendable (Event) -> Void) {
    let before = guarded.withLock { guarded in
      let before = guarded.observers
      guarded.observers.removeAll { $0.audience.isOver }
      guarded.observers.append(Observer(audience, observer))
      return before
    }
    // Released with the lock open.
    withExtendedLifetime(before) {}
  }

  /// Changes the state, then tells the events that the body has added.
  @inlinable
  package func change<Result, Failure: Error>(
    _ body: (inout State, inout UntoldEvents<Event>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var tells = false
    // Also of a body that throws.
    defer { if tells { tell() } }
    return try guarded.withLock { guarded throws(Failure) in
      var events = UntoldEvents<Event>(isListened: guarded.isListened)
      defer { tells = guarded.add(events) }
      return try body(&guarded.state, &events)
    }
  }

  @inlinable
  func tell() {
    for _ in 0..<1_024 {
      guard let (event, observers) = guarded.withLock({ $0.loop.next($0.takeNext()) }) else { return }
      for observer in observers where observer.audience.isThere { observer.tell(event) }
    }
    tellElsewhere()
  }

  /// Leaves the rest to another thread: the caller has a decision to act on.
  @usableFromInline
  func tellElsewhere() {
    // Scheduled, so that it is done in a simulation, too.
    DispatchQueue.global().schedule { self.tell() }
  }
}

/// What one change decides, for those who listen: where nobody does, no event is made.
@usableFromInline
package struct UntoldEvents<Event> {
  @usableFromInline package let isListened: Bool
  @usableFromInline var events: [Event] = []

  @inlinable
  init(isListened: Bool) {
    self.isListened = isListened
  }

  @inlinable
  package mutating func append(_ event: @autoclosure () -> Event) {
    if isListened { events.append(event()) }
  }
}
