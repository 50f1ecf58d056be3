import Combine
import StreamSupport

/// One upstream that several subscribers share, each at its own pace.
///
/// It asks for as much as the one who wants most, and keeps the values for those who come later.
final class Flight<Value, Failure: Error>: Subscriber, CustomStringConvertible, Sendable {
  typealias Input = Value

  private struct State {
    var passengers: [Passenger<Value, Failure>] = []
    var subscription: (any Subscription)?
    /// What is, or will be, requested of the upstream, in all.
    var requested = Subscribers.Demand.none
    var values: [Value] = []
    var completion: Subscribers.Completion<Failure>?
    /// Whether it has ended or was cancelled, and nobody may join.
    var isClosed = false
  }

  private let state = Locked(State())
  private let whenClosed: @Sendable (Flight) -> Void

  /// - Parameter whenClosed: Called once, when nobody may join any more.
  init(whenClosed: @escaping @Sendable (Flight) -> Void) {
    self.whenClosed = whenClosed
  }

  var description: String { "Coalesced" }

  /// Lets one more subscriber in.
  ///
  /// - Returns: What is to begin; `nil` if it is too late.
  func board<Downstream: Subscriber>(_ downstream: Downstream) -> Passenger<Value, Failure>?
  where Downstream.Input == Value, Downstream.Failure == Failure {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      let passenger = Passenger(downstream, number: state.passengers.count + 1, of: self)
      state.passengers.append(passenger)
      return passenger
    }
  }

  func receive(subscription: any Subscription) {
    let demand: Subscribers.Demand? = state.withLock { state in
      guard !state.isClosed, state.subscription == nil else { return nil }
      state.subscription = subscription
      return state.requested
    }
    guard let demand else { return subscription.cancel() }
    if demand > .none { subscription.request(demand) }
  }

  func receive(_ input: Value) -> Subscribers.Demand {
    let passengers: [Passenger<Value, Failure>] = state.withLock { state in
      guard !state.isClosed, state.requested > .max(state.values.count) else { return [] }
      state.values.append(input)
      return state.passengers
    }
    for passenger in passengers { passenger.drain() }
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    let before: State? = state.withLock { state in
      guard !state.isClosed else { return nil }
      let before = state
      state.isClosed = true
      state.completion = completion
      state.passengers = []
      state.subscription = nil
      return before
    }
    guard let before else { return }
    whenClosed(self)
    for passenger in before.passengers { passenger.drain() }
  }

  /// What comes after so many values, if it is there.
  fileprivate func event(after count: Int, wanted: Subscribers.Demand) -> StreamEvent<Value, Failure>? {
    state.withLock { state in
      if count < state.values.count { return wanted > .max(count) ? .value(state.values[count]) : nil }
      switch state.completion {
      case .finished?: return .finished
      case .failure(let error)?: return .failure(error)
      case nil: return nil
      }
    }
  }

  /// One more wants this much in all.
  fileprivate func want(_ wanted: Subscribers.Demand) {
    var more = Subscribers.Demand.none
    let subscription: (any Subscription)? = state.withLock { state in
      guard wanted > state.requested, !state.isClosed else { return nil }
      more = wanted - state.requested
      state.requested = wanted
      return state.subscription
    }
    subscription?.request(more)
  }

  /// One wants nothing any more; with the last one it all ends.
  fileprivate func leave(_ passenger: Passenger<Value, Failure>) {
    let rest: State? = state.withLock { state in
      guard !state.isClosed, let index = state.passengers.firstIndex(where: { $0 === passenger }) else { return nil }
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

/// One subscriber of a flight; its lock is taken before the flight's.
final class Passenger<Value, Failure: Error>: Subscription, CustomStringConvertible, Sendable {
  private struct State {
    /// Goes when it is over.
    var downstream: AnySubscriber<Value, Failure>?
    /// What was requested, and how much of it is delivered.
    var wanted = Subscribers.Demand.none
    var delivered = 0
    /// Whether some thread is delivering; from the start, since the subscription comes first.
    var isDraining = true
  }

  /// Counts the subscribers when this one joined.
  let number: Int
  private let flight: Flight<Value, Failure>
  private let state: Locked<State>

  fileprivate init<S: Subscriber>(_ downstream: S, number: Int, of flight: Flight<Value, Failure>)
  where S.Input == Value, S.Failure == Failure {
    self.number = number
    self.flight = flight
    state = Locked(State(downstream: AnySubscriber(downstream)))
  }

  var description: String { "Coalesced" }

  /// Gives the downstream its subscription, and then whatever has come so far.
  func begin() {
    state.withLock { $0.downstream }?.receive(subscription: self)
    deliver()
  }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let wanted = state.withLock { state in
      state.wanted += demand
      return state.wanted
    }
    flight.want(wanted)
    drain()
  }

  func cancel() {
    let downstream = state.withLock { state in
      let downstream = state.downstream
      state.downstream = nil
      return downstream
    }
    if downstream != nil { flight.leave(self) }
  }

  /// Delivers what is there and wanted, unless some thread is at it, which then sees it, too.
  fileprivate func drain() {
    let begins = state.withLock { state in
      defer { state.isDraining = true }
      return !state.isDraining
    }
    if begins { deliver() }
  }

  private func deliver() {
    while true {
      var downstream: AnySubscriber<Value, Failure>?
      let event: StreamEvent<Value, Failure>? = state.withLock { state in
        downstream = state.downstream
        let event = downstream == nil ? nil : flight.event(after: state.delivered, wanted: state.wanted)
        switch event {
        case .value?: state.delivered += 1
        case .finished?, .failure?: state.downstream = nil
        case nil: state.isDraining = false
        }
        return event
      }
      switch event {
      case .value(let value)?:
        if let more = downstream?.receive(value), more > .none { request(more) }
      case .finished?: downstream?.receive(completion: .finished)
      case .failure(let error)?: downstream?.receive(completion: .failure(error))
      case nil: return
      }
    }
  }
}
