import StreamSupport
import Synchronization

/// The subscription of an operator with several upstreams, which brings one downstream one event at a time.
///
/// - Values and ends come down through a combining lock; what is touched only inside it needs no other guard.
/// - Requests go up and must not wait for a combining lock, or two threads could wait for each other. Work for inside the
///   combining lock that a request brings is work: run at once if nobody is inside, else by whoever leaves last.
/// - What upstreams are asked for from inside waits until the combining lock is open, see ``request(from:_:)``.
/// - Who would wait for ever, since the thread inside waits for this one, delegates its event to that thread.
/// - Who closes the demand counter has ended the subscription; whoever delivers looks at it inside the combining lock, so nothing
///   follows the end.
///
/// Not generic, so that its code exists once.
@usableFromInline
class SerialSubscription: SubscriptionBase, ReflectedSubscription {
  @usableFromInline let combiningLock = CombiningLock()
  // What downstream asked for and did not get yet; closed at the end.
  @usableFromInline let outstanding = DemandCounter()
  @usableFromInline let lock = Lock()
  // A message as ``CombiningLock`` has it: who brings work sets it before trying the combining lock, who leaves the
  // combining lock reads it afterwards.
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
    combiningLock.enterUnlessDeadlocked()
  }

  /// Has the thread inside deal with an event before it leaves; only right after ``enter()`` has said false.
  @usableFromInline
  final func delegate(_ event: @escaping () -> Void) {
    combiningLock.delegate(event)
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
  /// An upstream that delivers from inside the request may go through a combining lock of its own, and another thread may be
  /// there already and wait for this one.
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

extension CombiningLock {
  /// Whether the calling thread is inside.
  @usableFromInline
  var isMine: Bool { holder.load(ordering: .relaxed) == currentThread() }
}
