import Combine
import StreamSupport

/// One upstream that several share: subscribers, each at its own pace, and functions, which leave with the first value.
///
/// It asks for as much as the one who wants most, and keeps the values for those who come later, or ask later.
///
/// Unchecked, because the lock guards all that changes, here and in the passengers, and is held for a few lines, never while
/// foreign code runs. Nothing that changes has a type of its own, which a `Locked` state has: see `InlineStorage`.
@usableFromInline
final class Flight<Key: Hashable & Sendable, Value, Failure: Error>: Subscriber, CustomStringConvertible,
  @unchecked Sendable
{
  @usableFromInline typealias Input = Value

  @usableFromInline let key: Key
  @usableFromInline let coalescer: Coalescer<Key, Value, Failure>
  @usableFromInline let lock = Lock()
  /// Whether somebody may still join: it has neither ended, nor has the last one left.
  @exclusivity(unchecked) @usableFromInline var isOpen = true
  @exclusivity(unchecked) @usableFromInline var hasEnded = false
  /// Whom to tell what comes: who has started it, in a place of its own, as most are alone; and who has joined.
  @exclusivity(unchecked) @usableFromInline var first: Passenger<Key, Value, Failure>?
  @exclusivity(unchecked) @usableFromInline var joined: [Passenger<Key, Value, Failure>] = []
  /// How many have neither left nor got the end.
  @exclusivity(unchecked) @usableFromInline var passengerCount = 1
  @exclusivity(unchecked) @usableFromInline var subscription = SubscriptionSlot()
  /// What is, or will be, requested of the upstream, in all.
  @exclusivity(unchecked) @usableFromInline var requested = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var values: [Value] = []
  /// What it has ended with.
  @exclusivity(unchecked) @usableFromInline var failure: ValueBox<Failure>?

  @inlinable
  init(for key: Key, of coalescer: Coalescer<Key, Value, Failure>) { (self.key, self.coalescer) = (key, coalescer) }

  @usableFromInline var description: String { "Coalesced" }

  /// Lets one more in.
  ///
  /// - Returns: The passenger, and how many there are with it; `nil` if it is too late.
  @inlinable
  func board<Boarding: Passenger<Key, Value, Failure>>(_ seat: (Flight) -> Boarding) -> (Boarding, count: Int)? {
    lock.withLock {
      guard isOpen else { return nil }
      let passenger = seat(self)
      joined.append(passenger)
      passengerCount += 1
      return (passenger, passengerCount)
    }
  }

  // MARK: What the upstream tells

  @inlinable
  func receive(subscription new: any Subscription) {
    lock.lock()
    guard isOpen, !subscription.isFull else {
      lock.unlock()
      return new.cancel()
    }
    subscription.put(new)
    let demand = requested
    lock.unlock()
    if demand > .none { new.request(demand) }
  }

  @inlinable
  func receive(_ input: Value) -> Subscribers.Demand {
    lock.lock()
    guard isOpen, requested > .max(values.count) else {
      lock.unlock()
      return .none
    }
    // An array that is made takes half of what one takes that grows.
    if values.isEmpty { values = [input] } else { values.append(input) }
    let joined = joined
    if let first, first.loop.enter() {
      serve(first)
    } else {
      lock.unlock()
    }
    tell(joined)
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) { end(completion) }

  /// Gives everyone the end, and before it the last value, if it comes with that.
  @inlinable
  func end(_ completion: Subscribers.Completion<Failure>, after last: Value? = nil) {
    lock.lock()
    guard isOpen else { return lock.unlock() }
    (isOpen, hasEnded) = (false, true)
    if let last { values.append(last) }
    if case .failure(let error) = completion { failure = ValueBox(error) }
    let upstream = subscription.take()
    let first = first.take()
    var joined: [Passenger<Key, Value, Failure>] = []
    swap(&joined, &self.joined)
    lock.unlock()
    coalescer.remove(self)
    upstream.release()
    if let first { attend(first) }
    tell(joined)
  }

  /// Gives those who have joined what they may have now: what they go on with is no part of the call of who came first.
  @inlinable @inline(__always)
  func tell(_ joined: [Passenger<Key, Value, Failure>]) {
    for passenger in joined { DecisionOrigin.left { attend(passenger) } }
  }

  // MARK: What passengers ask

  /// Gives a passenger what it may have now, unless another thread is at it, or a frame further up.
  @inlinable @inline(__always)
  func attend(_ passenger: Passenger<Key, Value, Failure>) {
    lock.lock()
    if passenger.loop.enter() { serve(passenger) } else { lock.unlock() }
  }

  /// Gives a passenger what it may have now, by whoever has entered its loop; called with the lock held, which it opens.
  @inlinable
  func serve(_ passenger: Passenger<Key, Value, Failure>) {
    while isDue(passenger) { hand(values[passenger.received], to: passenger) }
    if passenger.isOver {
      lock.unlock()
      return passenger.receivesEnd(passenger, nil)
    }
    guard hasEnded, passenger.received == values.count else {
      passenger.loop.leave()
      return lock.unlock()
    }
    let rest = disembark(passenger)
    let failure = failure
    lock.unlock()
    withExtendedLifetime(rest) {}
    passenger.receivesEnd(passenger, failure.map { .failure($0.value) } ?? .finished)
  }

  /// Whether there is a value for a passenger.
  @inlinable @inline(__always)
  func isDue(_ passenger: Passenger<Key, Value, Failure>) -> Bool {
    !passenger.isOver && passenger.wanted > .max(passenger.received) && values.count > passenger.received
  }

  /// Gives a passenger its next value; with the lock held, which it opens meanwhile.
  @inlinable @inline(__always)
  func hand(_ value: Value, to passenger: Passenger<Key, Value, Failure>) {
    passenger.received += 1
    lock.unlock()
    let more = passenger.receivesValue(passenger, value)
    if more > .none { request(more, for: passenger) }
    lock.lock()
  }

  /// One wants more; the upstream hears of it if nobody has wanted as much.
  @inlinable
  func request(_ demand: Subscribers.Demand, for passenger: Passenger<Key, Value, Failure>) {
    guard demand > .none else { return }
    lock.lock()
    passenger.wanted += demand
    let wanted = passenger.wanted
    if isOpen, !passenger.isOver, wanted > requested {
      let more = wanted - requested
      requested = wanted
      if subscription.isFull {
        let upstream = subscription.subscription
        lock.unlock()
        // It may begin with this.
        Deadline.replaced(by: nil) { upstream.request(more) }
        lock.lock()
      }
    }
    if passenger.loop.enter() { serve(passenger) } else { lock.unlock() }
  }

  /// One wants nothing any more; with the last one it all ends.
  @inlinable
  func leave(_ passenger: Passenger<Key, Value, Failure>) {
    lock.lock()
    guard !passenger.isOver else { return lock.unlock() }
    let rest = disembark(passenger)
    if first === passenger {
      first = nil
    } else if let index = joined.firstIndex(where: { $0 === passenger }) {
      joined.remove(at: index)
    }
    let closes = isOpen && passengerCount == 0
    if closes { isOpen = false }
    let upstream = closes ? subscription.take() : SubscriptionSlot()
    let isMine = passenger.loop.enter()
    lock.unlock()
    withExtendedLifetime(rest) {}
    if closes { coalescer.remove(self) }
    upstream.cancel()
    if isMine { passenger.receivesEnd(passenger, nil) }
  }

  /// One needs nothing of this any more; with the lock held.
  ///
  /// - Returns: The values, if nobody else does.
  @inlinable @inline(__always)
  func disembark(_ passenger: Passenger<Key, Value, Failure>) -> [Value] {
    passenger.isOver = true
    passengerCount -= 1
    var rest: [Value] = []
    if passengerCount == 0 { swap(&rest, &values) }
    return rest
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
