import Combine
import Foundation

/// Lets those who want the same thing at the same time share one upstream.
///
///     let forecasts = Coalescer<City, Forecast, NetworkFailure>()
///     client.forecast(for: city).coalesced(by: forecasts, for: city)
///
/// Whoever asks for a key while it is in flight joins, and gets every value from the first on; a hundred subscribers
/// cause one request. When the upstream ends, all get the end, and the next one to ask starts afresh: nothing is
/// kept, errors least of all. When the last one cancels, the upstream is cancelled.
///
/// What is in flight is everybody's, and runs under no ``Deadline/current``: each function that waits for it leaves when its own
/// time is over, each publisher when the timeout around it says so, and the last one to leave ends it.
///
/// Publishers and asynchronous functions of one coalescer share with each other.
///
/// - Note: It keeps the values of what is in flight, so it is for requests, not for streams without an end.
public final class Coalescer<Key: Hashable & Sendable, Value, Failure: Error>: Sendable {
  @usableFromInline let shared = Shared<[Key: Flight<Key, Value, Failure>], CoalescingEvent<Key>>([:])

  /// Makes a coalescer with nothing in flight.
  public init() {}

  /// How many keys are in flight.
  public var inFlightCount: Int { shared.read { $0.count } }

  /// Tells one more observer what is decided, in order, with no lock held.
  @discardableResult
  public func onEvent(_ observer: @escaping @Sendable (CoalescingEvent<Key>) -> Void) -> Coalescer {
    onEvent(to: .always, observer)
    return self
  }

  package func onEvent(to audience: Audience, _ observer: @escaping @Sendable (CoalescingEvent<Key>) -> Void) {
    shared.observe(for: audience, observer)
  }

  /// Lets somebody join what is in flight for a key, or start it.
  ///
  /// - Parameter seat: Makes the passenger of a flight; called with the lock held.
  /// - Returns: The passenger, which is to begin, and whether its flight needs an upstream then.
  @inlinable
  func join<Boarding: Passenger<Key, Value, Failure>>(
    _ key: Key,
    _ seat: (Flight<Key, Value, Failure>) -> Boarding
  ) -> (passenger: Boarding, isFirst: Bool) {
    shared.change { table, events in
      // By reference, since each look into the table takes a hash of the key.
      board(&table[key], key, seat, &events)
    }
  }

  /// Lets somebody into what is in flight for a key, or into what now begins.
  @inlinable @inline(__always)
  func board<Boarding: Passenger<Key, Value, Failure>>(
    _ place: inout Flight<Key, Value, Failure>?,
    _ key: Key,
    _ seat: (Flight<Key, Value, Failure>) -> Boarding,
    _ events: inout UntoldEvents<CoalescingEvent<Key>>
  ) -> (passenger: Boarding, isFirst: Bool) {
    if let flight = place {
      if let (passenger, count) = flight.board(seat) {
        events.append(.joined(key, subscribers: count))
        return (passenger, false)
      }
      // It has ended, and whoever ends it, and holds it, waits to take it out of the table.
      events.append(.ended(key))
    }
    events.append(.started(key))
    let flight = Flight(for: key, of: self)
    let first = seat(flight)
    flight.first = first
    place = flight
    return (first, true)
  }

  /// Lets the next one who asks for a key start afresh; what is in flight goes on for those who have joined.
  func forget(_ key: Key) {
    let removed = shared.change { table, events in
      let removed = table.removeValue(forKey: key)
      if removed != nil { events.append(.ended(key)) }
      return removed
    }
    withExtendedLifetime(removed) {}
  }

  /// Lets everyone who asks from now on start afresh.
  func forgetAll() {
    let removed = shared.change { table, events in
      let removed = table
      table = [:]
      for key in removed.keys { events.append(.ended(key)) }
      return removed
    }
    withExtendedLifetime(removed) {}
  }

  @inlinable
  func remove(_ flight: Flight<Key, Value, Failure>) {
    let removed: (Key, Flight<Key, Value, Failure>)? = shared.change { table, events in
      guard let index = table.index(forKey: flight.key), table.values[index] === flight else { return nil }
      events.append(.ended(flight.key))
      return table.remove(at: index)
    }
    withExtendedLifetime(removed) {}
  }
}

extension Coalescer where Value: Sendable, Failure == any Error {
  /// Runs an asynchronous function, or waits for the one that is in flight for the key.
  ///
  ///     let forecast = try await forecasts.run(city) { try await client.forecast(for: city) }
  ///
  /// The function runs in a task of its own, which is cancelled when all who wait for it are, or when their time is over.
  ///
  /// - Parameters:
  ///   - key: What is wanted.
  ///   - operation: The call.
  /// - Throws: What the function throws; ``TimedOut`` if ``Deadline/current`` is over first; `CancellationError` if the task
  ///   is cancelled.
  @inlinable
  public nonisolated(nonsending) func run(
    _ key: Key,
    _ operation: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let value = try await Answer.wait(until: Deadline.toHeed) {
      (answer: @escaping @Sendable (Result<Value?, any Error>) -> Void) in
      let (passenger, isFirst) = join(key) { WaitingPassenger(answer, on: $0) }
      passenger.request(.max(1))
      passenger.begin()
      if isFirst { Deadline.replaced(by: nil) { passenger.flight.run(operation) } }
      return passenger
    }
    // A publisher that shares the key may finish without a value; a function cannot.
    guard let value else { throw FinishedWithoutValue() }
    return value
  }
}

/// A publisher that an asynchronous function has joined finished without a value.
public struct FinishedWithoutValue: Error, Hashable, CustomStringConvertible {
  /// Makes the error.
  public init() {}

  /// What happened, and what to do about it.
  public var description: String {
    "The publisher finished without a value; let it send one, or fail, where an asynchronous function waits for it."
  }
}

extension FinishedWithoutValue: LocalizedError {
  /// That it is the program's fault, for people; the description says which.
  public var errorDescription: String? { ProgramMistake.words }
  /// What to do next, for people.
  public var recoverySuggestion: String? { ProgramMistake.suggestion }
}

/// Something that was decided about equal calls.
public enum CoalescingEvent<Key: Sendable>: Sendable {
  /// Nothing was in flight for the key, and a call starts.
  case started(Key)
  /// A call is in flight for the key, and is now shared by this many.
  case joined(Key, subscribers: Int)
  /// The call for the key has ended, or everyone has cancelled.
  case ended(Key)
}

extension CoalescingEvent: RecordedDecision {
  /// That of coalescers.
  public static var kind: PolicyKind { .coalescing }

  var record: DecisionRecord {
    switch self {
    case .started(let key): .init(.info, "started", "\(key): started")
    case .joined(let key, let subscribers):
      .init(.info, "joined", "\(key): joined what is in flight; \(subscribers) share it")
    case .ended(let key): .init(.info, "ended", "\(key): ended")
    }
  }
}

extension PolicyKind {
  /// That of a ``Coalescer``.
  public static let coalescing = PolicyKind("coalescing")
}

extension Coalescer: EventTelling {}
