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

  /// Goes one round: runs `body` for each outlet that is there now.
  @inlinable @inline(__always)
  func round(_ body: (Outlet<Output, Failure>) -> Void) {
    beginRound()
    walk(body)
    endRound()
  }

  /// Runs `body` for each outlet that was there when the round began.
  ///
  /// Called inside a round.
  @inlinable @inline(__always)
  func walk(_ body: (Outlet<Output, Failure>) -> Void) {
    var place = first
    // Copies of first and count: a round inside this one may change them, not what they stand for.
    var remaining = count
    while remaining > 0, let current = place {
      // Outlets of these types are all that is attached here.
      current.pointee._withUnsafeGuaranteedRef { body(unsafeDowncast($0, to: Outlet<Output, Failure>.self)) }
      place = current + 1
      remaining &-= 1
    }
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
      port.receive(subscription: Subscriptions.empty)
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
    super.init(to: port, in: fanout, owner: owner)
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
  @inlinable @inline(__always) @discardableResult
  final func offer(_ value: Output) -> Bool {
    if ledger.isUnlimited {
      // More can't be asked, so the answer doesn't matter.
      _ = deliver(value)
      return true
    }
    return offerCounted(value)
  }

  @inlinable
  final func offerCounted(_ value: Output) -> Bool {
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
    guard let crowd = close(), let port = port.load(ordering: .acquiring)?.takeUnretainedValue() else { return }
    crowd.retire(self)
    unsafeDowncast(port, to: Port<Output, Failure>.self).receive(completion: completion)
  }

  @usableFromInline
  override var downstream: Any? {
    (port.load(ordering: .acquiring)?.takeUnretainedValue() as? Port<Output, Failure>)?.subject
  }
}
