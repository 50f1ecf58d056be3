import Combine
import StreamSupport

/// One upstream that several subscribers share, each at its own pace.
///
/// It asks for as much as the one who wants most, and keeps the values for those who come later.
@usableFromInline
final class Flight<Value, Failure: Error>: Subscriber, CustomStringConvertible, Sendable {
  @usableFromInline typealias Input = Value

  @usableFromInline struct Passenger {
    @usableFromInline let number: Int
    @usableFromInline let emitter: Emitter<Value, Failure>
    /// What it has requested in all.
    @usableFromInline var wanted = Subscribers.Demand.none

    /// - Parameter values: What has come before.
    @inlinable
    init<Downstream: Subscriber>(number: Int, to downstream: Downstream, after values: [Value] = [])
    where Downstream.Input == Value, Downstream.Failure == Failure {
      self.number = number
      emitter = Emitter(named: "Coalesced", to: downstream, after: values)
    }
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

  /// - Parameter whenClosed: Called once, when nobody may join any more.
  @inlinable
  init(with first: Passenger, whenClosed: @escaping @Sendable (Flight) -> Void) {
    state = Locked(State(first))
    self.whenClosed = whenClosed
  }

  @inlinable
  var description: String { "Coalesced" }

  /// Lets one more subscriber in.
  ///
  /// - Returns: What is to begin, and how many there are with it; `nil` if it is too late.
  @inlinable
  func board<Downstream: Subscriber>(_ downstream: Downstream) -> (passenger: Passenger, count: Int)?
  where Downstream.Input == Value, Downstream.Failure == Failure {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.lastPassenger += 1
      let passenger = Passenger(number: state.lastPassenger, to: downstream, after: state.values)
      state.passengers.append(passenger)
      return (passenger, state.passengers.count)
    }
  }

  /// Gives a passenger its subscription, and what has come before it.
  @inlinable
  func begin(_ passenger: Passenger) {
    let number = passenger.number
    passenger.emitter.begin(
      whenRequested: { self.request($1, of: number) },
      whenCancelled: { self.leave(number) }
    )
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
    for passenger in passengers { passenger.emitter.send(input) }
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    let before = state.exchange(State(isClosed: true))
    guard !before.isClosed else { return }
    whenClosed(self)
    for passenger in before.passengers { passenger.emitter.send(completion: completion) }
  }

  /// One wants more; the upstream hears of it if nobody has wanted as much.
  @inlinable
  func request(_ demand: Subscribers.Demand, of number: Int) {
    var more = Subscribers.Demand.none
    let subscription: (any Subscription)? = state.withLock { state in
      guard let index = state.passengers.firstIndex(where: { $0.number == number }) else { return nil }
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
