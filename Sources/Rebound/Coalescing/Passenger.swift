import Combine
import StreamSupport

/// One of those who share a flight, and its subscription.
///
/// Swift specialises neither what is called through a protocol nor the methods of a generic class that are called through its
/// table, so the ways in are closures that capture nothing, made where all types are known.
///
/// Unchecked, because the lock of the flight guards what changes. Who listens is known to subclasses, which let go of it at the
/// end: whoever is in the loop does, and nobody else looks at it.
@usableFromInline
class Passenger<Key: Hashable & Sendable, Value, Failure: Error>: Subscription, CustomStringConvertible,
  @unchecked Sendable
{
  @usableFromInline typealias End = Subscribers.Completion<Failure>

  @usableFromInline let flight: Flight<Key, Value, Failure>
  @usableFromInline let receivesValue: (Passenger, Value) -> Subscribers.Demand
  /// Lets go of who listens, and gives it the end if it has not left.
  @usableFromInline let receivesEnd: (Passenger, End?) -> Void
  @usableFromInline let requests: (Passenger, Subscribers.Demand) -> Void
  @usableFromInline let leaves: (Passenger) -> Void
  /// What it has requested in all, and how many values it has received.
  @exclusivity(unchecked) @usableFromInline final var wanted = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline final var received = 0
  /// Who gives it something; entered from the start, since the subscription comes first, and not left after the end.
  @exclusivity(unchecked) @usableFromInline final var loop = DrainLoop(isEntered: true)
  /// Whether it has left, or the end was its turn.
  @exclusivity(unchecked) @usableFromInline final var isOver = false

  @inlinable
  init(
    on flight: Flight<Key, Value, Failure>,
    receivesValue: @escaping (Passenger, Value) -> Subscribers.Demand,
    receivesEnd: @escaping (Passenger, End?) -> Void
  ) {
    self.flight = flight
    self.receivesValue = receivesValue
    self.receivesEnd = receivesEnd
    requests = { $0.flight.request($1, for: $0) }
    leaves = { $0.flight.leave($0) }
  }

  @usableFromInline var description: String { "Coalesced" }

  @usableFromInline
  final func request(_ demand: Subscribers.Demand) { requests(self, demand) }

  @usableFromInline
  final func cancel() { leaves(self) }

  /// Has it get what there is for it, now that it knows its subscription.
  @inlinable @inline(__always)
  final func begin() {
    flight.lock.lock()
    flight.serve(self)
  }
}

/// A subscriber.
///
/// Unchecked, as all passengers are.
@usableFromInline
final class SubscribedPassenger<Key: Hashable & Sendable, Downstream: Subscriber>:
  Passenger<Key, Downstream.Input, Downstream.Failure>, @unchecked Sendable
{
  /// Full until it is let go of.
  @exclusivity(unchecked) @usableFromInline var downstream: InlineStorage<Downstream>

  @inlinable
  init(_ downstream: Downstream, on flight: Flight<Key, Downstream.Input, Downstream.Failure>) {
    self.downstream = InlineStorage { $0.initialize(to: downstream) }
    super.init(
      on: flight,
      // Each hands over itself.
      receivesValue: { unsafeDowncast($0, to: SubscribedPassenger.self).receive($1) },
      // As above.
      receivesEnd: { unsafeDowncast($0, to: SubscribedPassenger.self).receive($1) }
    )
  }

  // Released before the end, it leaves.
  deinit { if !isOver { cancel() } }

  @inlinable @inline(__always)
  func receive(_ value: Downstream.Input) -> Subscribers.Demand {
    let downstream = downstream.access { $0.pointee }
    return downstream.receive(value)
  }

  @inlinable @inline(__always)
  func receive(_ end: End?) {
    let last = downstream.access { $0.move() }
    downstream.close()
    if let end { last.receive(completion: end) }
  }
}

/// A function, which wants one value.
///
/// Unchecked, as all passengers are.
@usableFromInline
final class WaitingPassenger<Key: Hashable & Sendable, Value, Failure: Error>: Passenger<Key, Value, Failure>,
  @unchecked Sendable
{
  /// In a struct, since a function that is taken out by itself gets a wrapper.
  @usableFromInline struct Waiter {
    /// Takes the first answer; `nil` for an end without a value.
    @usableFromInline let answer: @Sendable (Result<Value?, Failure>) -> Void

    @inlinable
    init(_ answer: @escaping @Sendable (Result<Value?, Failure>) -> Void) { self.answer = answer }
  }

  @exclusivity(unchecked) @usableFromInline var waiter: Waiter?

  @inlinable
  init(_ answer: @escaping @Sendable (Result<Value?, Failure>) -> Void, on flight: Flight<Key, Value, Failure>) {
    waiter = Waiter(answer)
    super.init(
      on: flight,
      receivesValue: {
        // Each hands over itself.
        let waiter = unsafeDowncast($0, to: WaitingPassenger.self).waiter.take()
        $0.flight.leave($0)
        waiter?.answer(.success($1))
        return .none
      },
      receivesEnd: {
        // As above.
        let waiter = unsafeDowncast($0, to: WaitingPassenger.self).waiter.take()
        switch $1 {
        case .finished: waiter?.answer(.success(nil))
        case .failure(let error): waiter?.answer(.failure(error))
        case nil: break
        }
      }
    )
  }

  // Released before the end, it leaves.
  deinit { if !isOver { cancel() } }
}
