import Synchronization

/// One source, many subscribers: the heart of every subject.
///
/// See ``Crowd``.
@usableFromInline
final class Fanout<Output, Failure: Error>: Crowd {
  // Written once, inside the turnstile, before the crowd is disbanded; read only after that.
  @exclusivity(unchecked) @usableFromInline var ending: Subscribers.Completion<Failure>?

  @usableFromInline
  override init() {}

  /// Goes a round with a value.
  @inlinable @inline(__always)
  func send(_ value: Output) {
    beginRound()
    deliver(value) { outlet in
      outlet.offer(value)
      return outlet.ledger.isUnlimited
    }
    endRound()
  }

  /// Delivers a value to each outlet that was there when the round began.
  ///
  /// Called inside a round.
  ///
  /// - Parameter offer: delivers the value to an outlet if one is owed, and says whether the outlet wants everything
  ///   and has got it so far.
  @inlinable @inline(__always)
  func deliver(_ value: Output, _ offer: (Outlet<Output, Failure>) -> Bool) {
    // Copies of first and count: a round inside this one may change them, not what they stand for.
    var entry = first
    var remaining = count
    while remaining > 0, let current = entry, isOpen.load(ordering: .acquiring) {
      var served = 1
      current.pointee.port._withUnsafeGuaranteedRef {
        // A port of these types is all that an outlet is made with.
        let port = unsafeDowncast($0, to: Port<Output, Failure>.self)
        // More can't be asked, so the answer doesn't matter.
        if current.pointee.runLength == 1 {
          _ = port.receive(value)
        } else {
          served = deliver(value, from: current, port)
        }
      }
      entry = current + served
      remaining &-= served
    }
    if remaining > 0 { walk(from: entry, remaining, offer) }
  }

  /// Delivers a value to a run of ports of one type, and says to how many.
  @inlinable
  func deliver(_ value: Output, from first: UnsafeMutablePointer<RosterEntry>, _ port: Port<Output, Failure>) -> Int {
    var served = 0
    withUnsafeMutablePointer(to: &served) { port.receive(value, in: RosterRun(of: self, from: first, served: $0)) }
    return served
  }

  @usableFromInline
  override func target(of port: AnyObject) -> AnyObject? {
    // As in `deliver`.
    unsafeDowncast(port, to: Port<Output, Failure>.self).target
  }

  /// Runs `offer` for each of these outlets, and opens the roster if all of those that are there want everything.
  @inlinable
  func walk(from start: UnsafeMutablePointer<RosterEntry>?, _ number: Int, _ offer: (Outlet<Output, Failure>) -> Bool) {
    var entry = start
    var remaining = number
    var doAllWantAll = true
    while remaining > 0, let current = entry {
      // Outlets of these types are all that is attached here.
      let wantsAll = current.pointee.place._withUnsafeGuaranteedRef {
        offer(unsafeDowncast($0, to: Outlet<Output, Failure>.self))
      }
      doAllWantAll = doAllWantAll && wantsAll
      entry = current + 1
      remaining &-= 1
    }
    // If the roster is the one that was walked, and from its first entry on.
    if doAllWantAll, start == first, number == count { open() }
  }

  /// Adds an outlet and hands it to its subscriber; if the end has come already, the subscriber gets only that.
  @inlinable
  func attach(_ outlet: Outlet<Output, Failure>, _ port: Port<Output, Failure>) {
    if attach(outlet) {
      port.receive(subscription: outlet)
      if !outlet.introduce(), let ending {
        turnstile.enter()
        outlet.finish(ending)
        endRound()
      }
    } else if let ending {
      _ = outlet.close()
      port.receive(subscription: EmptySubscription.shared)
      port.receive(completion: ending)
    }
  }

  /// Ends the fan-out for all, once.
  @inlinable
  func end(_ completion: Subscribers.Completion<Failure>) {
    turnstile.enter()
    if !hasEnded.load(ordering: .relaxed) {
      ending = completion
      for place in disband() ?? [] {
        // An outlet of these types is all that is attached here.
        let outlet = unsafeDowncast(place, to: Outlet<Output, Failure>.self)
        if outlet.mayFinish() { outlet.finish(completion) }
      }
    }
    endRound()
  }
}

/// One subscriber's place at a fan-out, and the subscription that it holds.
@usableFromInline
class Outlet<Output, Failure: Error>: Place {
  // False until the subscriber has its subscription, or the end came; who sets it second sends the end.
  @usableFromInline let isSettled = Atomic<Bool>(false)

  @inlinable
  init(to port: Port<Output, Failure>, of fanout: Fanout<Output, Failure>, owner: AnyObject) {
    super.init(to: .passRetained(port), in: .passUnretained(fanout), owner: owner)
  }

  /// Notes that the subscriber has its subscription; false if the end has come meanwhile, and the caller has to send it.
  @inlinable
  final func introduce() -> Bool {
    !isSettled.exchange(true, ordering: .acquiringAndReleasing)
  }

  /// Notes the end; false if the subscriber is still busy with its subscription, and must not see the end before it.
  @inlinable
  final func mayFinish() -> Bool {
    isSettled.exchange(true, ordering: .acquiringAndReleasing)
  }

  /// Delivers a value if one is owed; says whether it did.
  ///
  /// Called inside the turnstile.
  @inlinable @discardableResult
  final func offer(_ value: Output) -> Bool {
    guard ledger.takeOne() else { return false }
    ledger.owe(deliver(value))
    return true
  }

  @inlinable @inline(__always)
  final func deliver(_ value: Output) -> Subscribers.Demand {
    guard let port = port.load(ordering: .acquiring) else { return .none }
    return port._withUnsafeGuaranteedRef {
      // A port of these types is all that an outlet is made with.
      unsafeDowncast($0, to: Port<Output, Failure>.self).receive(value)
    }
  }

  /// Delivers the end and lets go of everything.
  ///
  /// Called inside the turnstile.
  @inlinable
  final func finish(_ completion: Subscribers.Completion<Failure>) {
    guard let owner = close(), let port = port.load(ordering: .acquiring)?.takeUnretainedValue() else { return }
    crowd._withUnsafeGuaranteedRef { $0.retire(self, of: owner) }
    // As in `deliver`.
    unsafeDowncast(port, to: Port<Output, Failure>.self).receive(completion: completion)
  }

  @usableFromInline
  override var downstream: Any? {
    (port.load(ordering: .acquiring)?.takeUnretainedValue() as? Port<Output, Failure>)?.subject
  }
}
