import StreamSupport
import Synchronization

/// The subscription of an operator with several upstreams, which brings one downstream one event at a time.
///
/// - Values and ends come down through a combining lock; what is touched only inside it needs no other guard.
/// - An event that comes while another thread is inside is delegated to that thread. So nobody waits here, and threads
///   can't come to wait for each other, though upstreams send from inside requests.
/// - Requests go up past the lock. What they make deliverable is delivered by a drain loop: at once if nobody is inside,
///   else when the thread inside has left.
/// - What upstreams are asked for from inside waits until the lock is open, see ``request(from:_:)``.
/// - Who closes what is outstanding has ended the subscription; whoever delivers looks at it inside the lock, so nothing
///   follows the end.
///
/// Not generic, so that its code exists once.
@usableFromInline
class SerialSubscription: SubscriptionBase, ReflectedSubscription {
  @usableFromInline let combiningLock = CombiningLock()
  // What downstream asked for and did not get yet; closed at the end.
  @usableFromInline let outstanding = DemandCounter()
  // A note as ``CombiningLock`` has it: who brings work sets it before trying the lock, who leaves the lock reads it
  // afterwards.
  @usableFromInline let hasPendingWork = Atomic<Bool>(false)
  // The thread that asks upstreams; 0 if none does.
  private let requestingThread = Atomic<UInt>(0)
  // Touched only inside the combining lock; nothing foreign runs while it changes.
  @exclusivity(unchecked) private var pendingRequests = Queue<
    (upstream: SubscriptionBase, demand: Subscribers.Demand)
  >()

  @usableFromInline
  override init() {}

  /// Enters, and says so; if not, the caller has to ``delegate(_:)`` its event.
  @inlinable @inline(__always)
  final func enter() -> Bool {
    combiningLock.enterIfFree()
  }

  /// Has an event dealt with by the thread inside, or by this one if that has left meanwhile.
  ///
  /// Only right after ``enter()`` has said false.
  @usableFromInline
  final func delegate(_ event: @escaping () -> Void) {
    if combiningLock.delegate(event) { leave() }
  }

  /// Delegates a value, and answers nothing: the upstream is asked for what downstream answers.
  @usableFromInline
  final func delegate(
    _ value: @escaping () -> Subscribers.Demand,
    from upstream: @escaping () -> SubscriptionBase?
  ) -> Subscribers.Demand {
    delegate { [self] in
      let answer = value()
      if answer != .none, let upstream = upstream() { request(from: upstream, answer) }
    }
    return .none
  }

  /// Sees to it that an event which is dealt with outside the combining lock does not overtake a delegated one.
  ///
  /// If it says false, the event has to be delegated too.
  @inlinable @inline(__always)
  final func mayProceed() -> Bool {
    !combiningLock.hasDelegated || proceedAfterDelegated()
  }

  @usableFromInline
  final func proceedAfterDelegated() -> Bool {
    guard enter() else { return false }
    leave()
    return true
  }

  @inlinable @inline(__always)
  final func leave() {
    if combiningLock.leave(), hasPendingWork.load(ordering: .sequentiallyConsistent) { drainLoop() }
  }

  /// Has ``drainPendingWork()`` run soon, without waiting for anyone.
  @usableFromInline
  final func scheduleWork() {
    hasPendingWork.store(true, ordering: .sequentiallyConsistent)
    drainLoop()
  }

  @usableFromInline
  final func drainLoop() {
    while hasPendingWork.load(ordering: .sequentiallyConsistent), combiningLock.tryEnter() {
      guard combiningLock.isOutermost else {
        combiningLock.leave()
        return
      }
      hasPendingWork.store(false, ordering: .sequentiallyConsistent)
      drainPendingWork()
      let thread = currentThread()
      // One that asks already goes on when its upstream returns: upstreams that answer at once do not pile up.
      let ask = requestingThread.load(ordering: .relaxed) == thread ? nil : pendingRequests.popFirst()
      combiningLock.leave()
      guard let ask else { continue }
      requestingThread.store(thread, ordering: .relaxed)
      if !outstanding.isClosed { ask.upstream.request(ask.demand) }
      requestingThread.store(0, ordering: .relaxed)
      hasPendingWork.store(true, ordering: .sequentiallyConsistent)
    }
  }

  /// Asks an upstream for more, with the combining lock open: at once, or when it has been left.
  ///
  /// An upstream that answers from inside the request finds this open, and its subscriber one event at a time.
  @usableFromInline
  final func request(from upstream: SubscriptionBase, _ demand: Subscribers.Demand) {
    guard combiningLock.isMine else { return upstream.request(demand) }
    pendingRequests.append((upstream, demand))
    hasPendingWork.store(true, ordering: .sequentiallyConsistent)
  }

  /// Delivers what has become deliverable, and lets go of what is not needed after the end.
  ///
  /// Called inside the combining lock, never from inside itself.
  @usableFromInline func drainPendingWork() {}
}

/// How the side of a ``SerialSubscription`` that an upstream sees shows itself.
@usableFromInline
protocol SerialInput: CustomStringConvertible, CustomReflectable, CustomPlaygroundDisplayConvertible {
  var owner: SerialSubscription { get }
}

extension SerialInput {
  @usableFromInline var description: String { owner.name }
  @usableFromInline var playgroundDescription: Any { owner.name }
  @usableFromInline
  var customMirror: Mirror { Mirror(self, children: ["parentSubscription": owner.combineIdentifier]) }
}
