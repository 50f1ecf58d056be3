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

    @inlinable
    init(number: Int, emitter: Emitter<Value, Failure>) { (self.number, self.emitter) = (number, emitter) }
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
  }

  @usableFromInline let state = Locked(State())
  @usableFromInline let whenClosed: @Sendable (Flight) -> Void

  /// - Parameter whenClosed: Called once, when nobody may join any more.
  @inlinable
  init(whenClosed: @escaping @Sendable (Flight) -> Void) {
    self.whenClosed = whenClosed
  }

  @inlinable
  var description: String { "Coalesced" }

  /// Lets one more subscriber in.
  ///
  /// - Returns: How many there are with it, and what it begins with; `nil` if it is too late.
  @inlinable
  func board<Downstream: Subscriber>(_ downstream: Downstream) -> (count: Int, begin: () -> Void)?
  where Downstream.Input == Value, Downstream.Failure == Failure {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      let emitter = Emitter(named: description, to: downstream, after: state.values)
      state.lastPassenger += 1
      let number = state.lastPassenger
      state.passengers.append(Passenger(number: number, emitter: emitter))
      let begin = {
        _ = emitter.begin(
          whenRequested: { self.request($1, of: number) },
          whenCancelled: { self.leave(number) }
        )
      }
      return (state.passengers.count, begin)
    }
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
    subscription?.request(more)
  }

  /// One wants nothing any more; with the last one it all ends.
  @inlinable
  func leave(_ number: Int) {
    let rest: State? = state.withLock { state in
      guard let index = state.passengers.firstIndex(where: { $0.number == number }) else { return nil }
      state.passengers.remove(at: index)
      guard state.passengers.isEmpty else { return nil }
      let rest = state
      state = State(isClosed: true)
      return rest
    }
    guard let rest else { return }
    whenClosed(self)
    rest.subscription?.cancel()
  }
}
