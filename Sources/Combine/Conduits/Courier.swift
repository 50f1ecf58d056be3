import StreamSupport
import Synchronization

/// The subscription of an operator with several upstreams, which brings one downstream one event at a time.
///
/// - Values and ends come down through a turnstile; what is touched only inside it needs no other guard.
/// - Requests go up and must not wait for a turnstile, or two threads could wait for each other. Work for inside the
///   turnstile that a request brings is an errand: run at once if nobody is inside, else by whoever leaves last.
/// - What upstreams are asked for from inside waits until the turnstile is open, see ``ask(_:for:)``.
/// - Who would wait for ever, since the thread inside waits for this one, delegates its event to that thread.
/// - Who closes the ledger has ended the subscription; whoever delivers looks at it inside the turnstile, so nothing
///   follows the end.
///
/// Not generic, so that its code exists once.
@usableFromInline
class Courier: Mooring {
  @usableFromInline let turnstile = Turnstile()
  // What downstream asked for and did not get yet; closed at the end.
  @usableFromInline let ledger = Ledger()
  @usableFromInline let lock = Lock()
  // A message as ``Turnstile`` has it: who brings an errand sets it before trying the turnstile, who leaves the
  // turnstile reads it afterwards.
  @usableFromInline let hasErrand = Atomic<Bool>(false)
  // The thread that asks upstreams; 0 if none does.
  private let asker = Atomic<UInt>(0)
  // Touched only inside the turnstile; nothing foreign runs while it changes.
  @exclusivity(unchecked) private var asks = Queue<(upstream: Tether, demand: Subscribers.Demand)>()

  @usableFromInline
  override init() {}

  /// Enters, and says so; if not, the caller has to ``delegate(_:)`` its event.
  @inlinable @inline(__always)
  final func enter() -> Bool {
    turnstile.enterUnlessDeadlocked()
  }

  /// Has the thread inside deal with an event before it leaves; only right after ``enter()`` has said false.
  @usableFromInline
  final func delegate(_ event: @escaping () -> Void) {
    turnstile.delegate(event)
  }

  /// Delegates a value, and answers nothing: the upstream is asked for what downstream answers.
  @usableFromInline
  final func delegate(
    _ value: @escaping () -> Subscribers.Demand,
    from upstream: @escaping () -> Tether?
  ) -> Subscribers.Demand {
    delegate { [self] in
      let answer = value()
      if answer != .none, let upstream = upstream() { ask(upstream, for: answer) }
    }
    return .none
  }

  /// Sees to it that an event which is dealt with outside the turnstile does not overtake a delegated one.
  ///
  /// If it says false, the event has to be delegated too.
  @inlinable @inline(__always)
  final func settle() -> Bool {
    !turnstile.hasDelegated || settleDelegated()
  }

  @usableFromInline
  final func settleDelegated() -> Bool {
    guard enter() else { return false }
    leave()
    return true
  }

  @inlinable @inline(__always)
  final func leave() {
    if turnstile.leave(), hasErrand.load(ordering: .sequentiallyConsistent) { runErrands() }
  }

  /// Has ``runErrand()`` run soon, without waiting for anyone.
  @usableFromInline
  final func callErrand() {
    hasErrand.store(true, ordering: .sequentiallyConsistent)
    runErrands()
  }

  @usableFromInline
  final func runErrands() {
    while hasErrand.load(ordering: .sequentiallyConsistent), turnstile.tryEnter() {
      guard turnstile.isOutermost else {
        turnstile.leave()
        return
      }
      hasErrand.store(false, ordering: .sequentiallyConsistent)
      runErrand()
      let thread = currentThread()
      // One that asks already goes on when its upstream returns: upstreams that answer at once do not pile up.
      let ask = asker.load(ordering: .relaxed) == thread ? nil : asks.popFirst()
      turnstile.leave()
      guard let ask else { continue }
      asker.store(thread, ordering: .relaxed)
      if !ledger.isClosed { ask.upstream.request(ask.demand) }
      asker.store(0, ordering: .relaxed)
      hasErrand.store(true, ordering: .sequentiallyConsistent)
    }
  }

  /// Asks an upstream for more, with the turnstile open: at once, or when it has been left.
  ///
  /// An upstream that delivers from inside the request may go through a turnstile of its own, and another thread may be
  /// there already and wait for this one.
  @usableFromInline
  final func ask(_ upstream: Tether, for demand: Subscribers.Demand) {
    guard turnstile.isMine else { return upstream.request(demand) }
    asks.append((upstream, demand))
    hasErrand.store(true, ordering: .sequentiallyConsistent)
  }

  /// Delivers what has become deliverable, and lets go of what is not needed after the end.
  ///
  /// Called inside the turnstile, never from inside itself.
  @usableFromInline func runErrand() {}
}

/// How the side of a ``Courier`` that an upstream sees shows itself.
@usableFromInline
protocol CourierSide: CustomStringConvertible, CustomReflectable, CustomPlaygroundDisplayConvertible {
  var courier: Courier { get }
}

extension CourierSide {
  @usableFromInline var description: String { courier.name }
  @usableFromInline var playgroundDescription: Any { courier.name }
  @usableFromInline
  var customMirror: Mirror { Mirror(self, children: ["parentSubscription": courier.combineIdentifier]) }
}

extension Turnstile {
  /// Whether the calling thread is inside.
  @usableFromInline
  var isMine: Bool { holder.load(ordering: .relaxed) == currentThread() }
}
