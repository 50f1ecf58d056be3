import Combine
import StreamSupport

/// One upstream that several subscribers share, each at its own pace.
///
/// It asks for as much as the one who wants most, and keeps the values for those who come later.
///
/// The lock guards all state, that of the passengers included, and no foreign code runs under it. Unchecked for that
/// reason.
final class Flight<Value, Failure: Error>: Subscriber, CustomStringConvertible, @unchecked Sendable {
  typealias Input = Value

  /// Set once, before anyone else knows the flight; called with the lock open, once.
  var whenClosed: () -> Void = {}

  fileprivate struct State {
    var passengers: [Passenger<Value, Failure>] = []
    var subscription: (any Subscription)?
    /// What is, or will be, requested of the upstream, in all.
    var requested = Subscribers.Demand.none
    var values: [Value] = []
    var completion: Subscribers.Completion<Failure>?
    /// Whether it has ended or was cancelled, and nobody may join.
    var isClosed = false
  }

  fileprivate let lock = Lock()
  fileprivate var state = State()

  var description: String { "Coalesced" }

  /// Lets one more subscriber in.
  ///
  /// - Returns: What is to begin; `nil` if it is too late.
  func board<Downstream: Subscriber>(_ downstream: Downstream) -> Passenger<Value, Failure>?
  where Downstream.Input == Value, Downstream.Failure == Failure {
    lock.withLock {
      guard !state.isClosed else { return nil }
      let passenger = Passenger(downstream, number: state.passengers.count + 1, of: self)
      state.passengers.append(passenger)
      return passenger
    }
  }

  func receive(subscription: any Subscription) {
    let demand: Subscribers.Demand? = lock.withLock {
      guard !state.isClosed, state.subscription == nil else { return nil }
      state.subscription = subscription
      return state.requested
    }
    guard let demand else { return subscription.cancel() }
    if demand > .none { subscription.request(demand) }
  }

  func receive(_ input: Value) -> Subscribers.Demand {
    let passengers: [Passenger<Value, Failure>] = lock.withLock {
      guard !state.isClosed, state.requested > .max(state.values.count) else { return [] }
      state.values.append(input)
      return state.passengers
    }
    for passenger in passengers { passenger.drain() }
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    let rest: ([Passenger<Value, Failure>], (any Subscription)?)? = lock.withLock {
      guard !state.isClosed else { return nil }
      state.isClosed = true
      state.completion = completion
      let rest = (state.passengers, state.subscription)
      state.passengers = []
      state.subscription = nil
      return rest
    }
    guard let (passengers, _) = rest else { return }
    whenClosed()
    for passenger in passengers { passenger.drain() }
  }

  /// One more wants this much in all.
  fileprivate func want(_ wanted: Subscribers.Demand) {
    let more: (Subscribers.Demand, any Subscription)? = lock.withLock {
      guard wanted > state.requested, !state.isClosed else { return nil }
      let more = wanted - state.requested
      state.requested = wanted
      return state.subscription.map { (more, $0) }
    }
    if let (demand, subscription) = more { subscription.request(demand) }
  }

  /// One wants nothing any more; with the last one it all ends.
  fileprivate func leave(_ passenger: Passenger<Value, Failure>) {
    let rest: State? = lock.withLock {
      guard !state.isClosed, let index = state.passengers.firstIndex(where: { $0 === passenger }) else { return nil }
      state.passengers.remove(at: index)
      guard state.passengers.isEmpty else { return nil }
      let rest = state
      state = State()
      state.isClosed = true
      return rest
    }
    guard let rest else { return }
    whenClosed()
    rest.subscription?.cancel()
  }
}

/// One subscriber of a flight.
///
/// Unchecked, because the flight's lock guards what changes.
final class Passenger<Value, Failure: Error>: Subscription, CustomStringConvertible, @unchecked Sendable {
  private enum Step {
    case value(Value, (Value) -> Subscribers.Demand)
    case completion(Subscribers.Completion<Failure>, Downstream)
  }

  private struct Downstream {
    let subscribe: (any Subscription) -> Void
    let receive: (Value) -> Subscribers.Demand
    let complete: (Subscribers.Completion<Failure>) -> Void
  }

  /// Counts the subscribers when this one joined.
  let number: Int
  private let flight: Flight<Value, Failure>
  /// Goes when it is over.
  private var downstream: Downstream?
  /// What was requested, and how much of it is delivered.
  private var wanted = Subscribers.Demand.none
  private var delivered = 0
  /// Whether some thread is delivering; from the start, since the subscription comes first.
  private var isDraining = true

  fileprivate init<S: Subscriber>(_ downstream: S, number: Int, of flight: Flight<Value, Failure>)
  where S.Input == Value, S.Failure == Failure {
    self.number = number
    self.flight = flight
    self.downstream = Downstream(
      subscribe: downstream.receive(subscription:),
      receive: downstream.receive(_:),
      complete: downstream.receive(completion:)
    )
  }

  var description: String { "Coalesced" }

  /// Gives the downstream its subscription, and then whatever has come so far.
  func begin() {
    flight.lock.withLock { downstream }?.subscribe(self)
    deliver()
  }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let wanted = flight.lock.withLock {
      self.wanted += demand
      return self.wanted
    }
    flight.want(wanted)
    drain()
  }

  func cancel() {
    let downstream = flight.lock.withLock {
      let downstream = self.downstream
      self.downstream = nil
      return downstream
    }
    if downstream != nil { flight.leave(self) }
  }

  /// Delivers what is there and wanted, unless some thread is at it, which then sees it, too.
  fileprivate func drain() {
    let begins = flight.lock.withLock {
      guard !isDraining else { return false }
      isDraining = true
      return true
    }
    if begins { deliver() }
  }

  private func deliver() {
    while let step = nextStep() {
      switch step {
      case .value(let value, let receive):
        let more = receive(value)
        if more > .none { request(more) }
      case .completion(let completion, let downstream):
        downstream.complete(completion)
      }
    }
  }

  private func nextStep() -> Step? {
    flight.lock.withLock {
      guard let downstream else {
        isDraining = false
        return nil
      }
      if flight.state.values.count > delivered, wanted > .max(delivered) {
        delivered += 1
        return .value(flight.state.values[delivered - 1], downstream.receive)
      }
      if delivered == flight.state.values.count, let completion = flight.state.completion {
        self.downstream = nil
        return .completion(completion, downstream)
      }
      isDraining = false
      return nil
    }
  }
}
