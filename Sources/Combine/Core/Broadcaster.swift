import Synchronization

/// One source, many subscribers: the heart of every subject.
///
/// See ``SubscriberList``.
@usableFromInline
final class Broadcaster<Output, Failure: Error>: SubscriberList {
  // Written once, inside the combining lock, before the list is disbanded; read only after that.
  @exclusivity(unchecked) @usableFromInline var ending: Subscribers.Completion<Failure>?

  @usableFromInline
  override init() {}

  /// Goes a round with a value.
  @inlinable @inline(__always)
  func send(_ value: Output) {
    beginRound()
    deliver { $0.offer(value) }
    endRound()
  }

  /// Runs `offer` for each subscription that was there when the round began.
  ///
  /// Called inside a round.
  @inlinable @inline(__always)
  func deliver(_ offer: (SubjectSubscription<Output, Failure>) -> Void) {
    // Copies of first and count: a round inside this one may change them, not what they stand for.
    var next = first
    var remaining = count
    while remaining > 0, let current = next {
      // Subscriptions of these types are all that is attached here.
      current.pointee._withUnsafeGuaranteedRef {
        offer(unsafeDowncast($0, to: SubjectSubscription<Output, Failure>.self))
      }
      next = current + 1
      remaining &-= 1
    }
  }

  /// Adds a subscription and hands it to its subscriber; if the end has come already, the subscriber gets only that.
  @inlinable
  func attach(_ subscription: SubjectSubscription<Output, Failure>, _ erased: ErasedSubscriber<Output, Failure>) {
    if attach(subscription) {
      erased.receive(subscription: subscription)
      if !subscription.introduce(), let ending {
        combiningLock.enter()
        subscription.finish(ending)
        endRound()
      }
    } else if let ending {
      _ = subscription.close()
      erased.receive(subscription: EmptySubscription.shared)
      erased.receive(completion: ending)
    }
  }

  /// Ends the broadcaster for all, once.
  @inlinable
  func end(_ completion: Subscribers.Completion<Failure>) {
    combiningLock.enter()
    if !hasEnded.load(ordering: .relaxed) {
      ending = completion
      for listed in disband() ?? [] {
        // A subscription of these types is all that is attached here.
        let subscription = unsafeDowncast(listed, to: SubjectSubscription<Output, Failure>.self)
        if subscription.mayFinish() { subscription.finish(completion) }
      }
    }
    endRound()
  }
}

/// The subscription that one subscriber holds to a broadcaster.
@usableFromInline
class SubjectSubscription<Output, Failure: Error>: ListedSubscription {
  // False until the subscriber has its subscription, or the end came; who sets it second sends the end.
  @usableFromInline let isSettled = Atomic<Bool>(false)

  @inlinable
  init(to erased: ErasedSubscriber<Output, Failure>, of broadcaster: Broadcaster<Output, Failure>, owner: AnyObject) {
    super.init(to: .passRetained(erased), in: .passUnretained(broadcaster), owner: owner)
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
  /// Called inside the combining lock.
  @inlinable @inline(__always) @discardableResult
  final func offer(_ value: Output) -> Bool {
    if outstanding.isUnlimited {
      // More can't be asked, so the answer doesn't matter.
      _ = deliver(value)
      return true
    }
    guard outstanding.takeOne() else { return false }
    outstanding.add(deliver(value))
    return true
  }

  @inlinable @inline(__always)
  final func deliver(_ value: Output) -> Subscribers.Demand {
    guard let erased = erased.load(ordering: .acquiring) else { return .none }
    return erased._withUnsafeGuaranteedRef {
      // An erased subscriber of these types is all that a subscription is made with.
      unsafeDowncast($0, to: ErasedSubscriber<Output, Failure>.self).receive(value)
    }
  }

  /// Delivers the end and lets go of everything.
  ///
  /// Called inside the combining lock.
  @inlinable
  final func finish(_ completion: Subscribers.Completion<Failure>) {
    guard let owner = close(), let erased = erased.load(ordering: .acquiring)?.takeUnretainedValue() else { return }
    list._withUnsafeGuaranteedRef { $0.retire(self, of: owner) }
    // As in `deliver`.
    unsafeDowncast(erased, to: ErasedSubscriber<Output, Failure>.self).receive(completion: completion)
  }

  @usableFromInline
  override var downstream: Any? {
    (erased.load(ordering: .acquiring)?.takeUnretainedValue() as? ErasedSubscriber<Output, Failure>)?.subject
  }
}
