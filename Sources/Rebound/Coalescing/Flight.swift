import Combine
import StreamSupport

/// One upstream that several share: subscribers, each at its own pace, and functions, which leave with the first value.
///
/// It asks for as much as the one who wants most, and keeps the values for those who come later.
@usableFromInline
final class Flight<Value, Failure: Error>: Subscriber, CustomStringConvertible, Sendable {
  @usableFromInline typealias Input = Value

  @usableFromInline enum Seat {
    case subscriber(Emitter<Value, Failure>)
    /// Takes the first answer; `nil` for an end without a value.
    case function(@Sendable (Result<Value?, Failure>) -> Void)
  }

  @usableFromInline struct Passenger {
    @usableFromInline let number: Int
    @usableFromInline let seat: Seat
    /// What it has requested in all.
    @usableFromInline var wanted = Subscribers.Demand.none

    @inlinable
    init(number: Int, seat: Seat) { (self.number, self.seat) = (number, seat) }
  }

  /// What a passenger leaves with.
  @usableFromInline struct Ticket: Cancellable {
    @usableFromInline let flight: Flight
    @usableFromInline let number: Int

    @inlinable
    init(for flight: Flight, _ number: Int) { (self.flight, self.number) = (flight, number) }

    @inlinable
    func cancel() { flight.whenLeft(flight, number) }
  }

  @usableFromInline struct State {
    @usableFromInline var passengers: [Passenger] = []
    @usableFromInline var lastPassenger = 0
    @usableFromInline var subscription: (any Subscription)?
    /// What is, or will be, requested of the upstream, in all.
    @usableFromInline var requested = Subscribers.Demand.none
    @usableFromInline var values: [Value] = []
    /// Whether it has ended or was cancelled, and nobody may join.
    @usableFromInline var isClosed = false

    @inlinable
    init(isClosed: Bool = false) { self.isClosed = isClosed }

    @inlinable
    init(_ first: Passenger) { (passengers, lastPassenger) = ([first], first.number) }
  }

  @usableFromInline let state: Locked<State>
  @usableFromInline let whenClosed: @Sendable (Flight) -> Void
  // Swift does not specialise what is called through a protocol, so this is made where the types are known.
  @usableFromInline let whenLeft: @Sendable (Flight, Int) -> Void

  /// - Parameter whenClosed: Called once, when nobody may join any more.
  @inlinable
  init(with first: Passenger, whenClosed: @escaping @Sendable (Flight) -> Void) {
    state = Locked(State(first))
    self.whenClosed = whenClosed
    whenLeft = { $0.leave($1) }
  }

  @inlinable
  var description: String { "Coalesced" }

  /// Lets one more in, after the values that have come.
  ///
  /// - Returns: What is to begin, and how many there are with it; `nil` if it is too late.
  @inlinable
  func board(_ seat: (_ values: [Value]) -> Seat) -> (passenger: Passenger, count: Int)? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.lastPassenger += 1
      let passenger = Passenger(number: state.lastPassenger, seat: seat(state.values))
      state.passengers.append(passenger)
      return (passenger, state.passengers.count)
    }
  }

  /// Gives a subscriber its subscription, and what has come before it; a function wants one value.
  @inlinable
  func begin(_ passenger: Passenger) -> Ticket {
    let number = passenger.number
    switch passenger.seat {
    case .subscriber(let emitter):
      emitter.begin(whenRequested: { self.request($1, of: number) }, whenCancelled: { self.leave(number) })
    case .function: request(.max(1), of: number)
    }
    return Ticket(for: self, number)
  }

  @inlinable
  func receive(subscription: any Subscription) {
    let demand: Subscribers.Demand? = state.withLock { state in
      guard !state.isClosed, state.subscription == nil else { return nil }
      state.subscription = subscription
      return state.requested
    }
    guard let demand else { return subscription.cancel() }
    if demand > .none { subscription.request(demand) }
  }

  @inlinable
  func receive(_ input: Value) -> Subscribers.Demand {
    let passengers = state.withLock { state in
      guard !state.isClosed, state.requested > .max(state.values.count) else { return [] as [Passenger] }
      state.values.append(input)
      return state.passengers
    }
    for passenger in passengers {
      switch passenger.seat {
      case .subscriber(let emitter): reach(passenger) { emitter.send(input) }
      case .function(let answer):
        leave(passenger.number)
        answer(.success(input))
      }
    }
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) { end(completion) }

  /// Gives everyone the end, and before it the last value, if it comes with that.
  @inlinable
  func end(_ completion: Subscribers.Completion<Failure>, after last: Value? = nil) {
    let before = state.exchange(State(isClosed: true))
    guard !before.isClosed else { return }
    whenClosed(self)
    for passenger in before.passengers {
      switch (passenger.seat, completion) {
      case (.subscriber(let emitter), _):
        reach(passenger) {
          if let last { emitter.send(last) }
          emitter.send(completion: completion)
        }
      case (.function(let answer), .finished): answer(.success(last))
      case (.function(let answer), .failure(let error)): answer(.failure(error))
      }
    }
  }

  /// Tells a subscriber something: what one who has joined goes on with is no part of the call of who came first.
  @inlinable
  func reach(_ passenger: Passenger, _ send: () -> Void) {
    if passenger.number == 1 { send() } else { DecisionOrigin.left(send) }
  }

  /// One wants more; the upstream hears of it if nobody has wanted as much.
  @inlinable
  func request(_ demand: Subscribers.Demand, of number: Int) {
    var more = Subscribers.Demand.none
    let subscription: (any Subscription)? = state.withLock { state in
      // Most who ask have just come.
      guard let index = state.passengers.lastIndex(where: { $0.number == number }) else { return nil }
      state.passengers[index].wanted += demand
      let wanted = state.passengers[index].wanted
      guard wanted > state.requested else { return nil }
      more = wanted - state.requested
      state.requested = wanted
      return state.subscription
    }
    guard let subscription else { return }
    // It may begin with this.
    Deadline.replaced(by: nil) { subscription.request(more) }
  }

  /// One wants nothing any more; with the last one it all ends.
  @inlinable
  func leave(_ number: Int) {
    let rest: State? = state.withLock { state in
      guard let index = state.passengers.firstIndex(where: { $0.number == number }) else { return nil }
      state.passengers.remove(at: index)
      guard state.passengers.isEmpty else { return nil }
      var rest = State(isClosed: true)
      swap(&rest, &state)
      return rest
    }
    guard let rest else { return }
    whenClosed(self)
    rest.subscription?.cancel()
  }
}

extension Flight where Value: Sendable, Failure == any Error {
  /// Has a function be the upstream, in a task of its own.
  @inlinable
  func run(_ function: @escaping @Sendable () async throws -> Value) {
    let task = Task {
      do { end(.finished, after: try await function()) } catch { end(.failure(error)) }
    }
    receive(subscription: RunningTask(task))
  }
}
