import StreamSupport
import Synchronization

/// What a ``Published`` property stands on: a plain value, until somebody wants to hear of its changes.
@usableFromInline
final class PublishedSubject<Value>: AtomicBox<Value> {
  // Each holds one reference once it is set, and keeps it until `deinit`: set under `lock`, or by one exchange.
  @usableFromInline let values = Atomic<Unmanaged<CurrentValueBroadcaster<Value, Never>>?>(nil)
  @usableFromInline let willChange = Atomic<Unmanaged<ObservableObjectPublisher>?>(nil)
  // Guarded by `lock`.
  @exclusivity(unchecked) private var upstreams: SubjectUpstreams?

  @inlinable
  override init(_ value: Value) {
    super.init(value)
  }

  deinit {
    values.load(ordering: .acquiring)?.release()
    willChange.load(ordering: .acquiring)?.release()
  }

  /// Announces a change of the object, sends the value, and only then keeps it: Apple's order.
  @inlinable
  func send(_ value: Value) {
    // Both live as long as this object does, so they need no retain.
    willChange.load(ordering: .acquiring)?._withUnsafeGuaranteedRef { $0.send() }
    guard let values = values.load(ordering: .acquiring) else { return sendUnheard(value) }
    values._withUnsafeGuaranteedRef { publish(value, to: $0) }
  }

  /// Does as ``send(_:)`` if nothing foreign runs meanwhile but subscribers; says whether it did.
  ///
  /// The caller need not keep this by a retain, though a subscriber may put another in its place: the subscribers keep
  /// it by their subscriptions until the round has ended.
  @inlinable @inline(__always)
  func sendUnretained(_ value: Value) -> Bool {
    // The deinit of a value, or somebody who is told of the change before, would be foreign, too.
    guard Self.fitsWord, willChange.load(ordering: .acquiring) == nil, let values = values.load(ordering: .acquiring)
    else { return false }
    values._withUnsafeGuaranteedRef { publish(value, to: $0) }
    return true
  }

  @inlinable @inline(__always)
  func publish(_ value: Value, to values: CurrentValueBroadcaster<Value, Never>) {
    values.broadcaster.beginRound()
    // A value sent from inside a subscriber goes round and is kept first, then the outer one: the outer one stays.
    let (outer, outerRound) = (values.underway, values.roundUnderway)
    values.underway = value
    values.roundUnderway = values.latestRound &+ 1
    values.deliver(value)
    replace(with: value)
    values.underway = outer
    values.roundUnderway = outerRound
    values.broadcaster.endRound()
  }

  /// Keeps a value that nobody hears of.
  ///
  /// Under the lock, so that nobody can begin to listen meanwhile and miss it.
  @inlinable
  func sendUnheard(_ value: Value) {
    lock.lock()
    if let values = values.load(ordering: .relaxed) {
      lock.unlock()
      values._withUnsafeGuaranteedRef { publish(value, to: $0) }
      return
    }
    let previous = current
    if Self.fitsWord { word.store(Self.word(of: value), ordering: .releasing) } else { current = value }
    lock.unlock()
    // Outside the lock: a value may run code of its own when it goes.
    withExtendedLifetime(previous) {}
  }

  @usableFromInline
  func attach(_ erased: ErasedSubscriber<Value, Never>) {
    heard().attach(erased, reading: self, name: "PublishedSubject", owner: self)
  }

  /// The broadcaster, made now if this is the first time that somebody wants to listen.
  private func heard() -> CurrentValueBroadcaster<Value, Never> {
    lock.lock()
    defer { lock.unlock() }
    if let existing = values.load(ordering: .relaxed) { return existing.takeUnretainedValue() }
    let made = CurrentValueBroadcaster<Value, Never>()
    values.store(.passRetained(made), ordering: .releasing)
    return made
  }

  /// Keeps the subscription of a publisher that is assigned to the property, as long as this lives.
  func keep(_ subscription: any Subscription) {
    lock.lock()
    let upstreams = upstreams ?? SubjectUpstreams(startsAtOnce: true)
    self.upstreams = upstreams
    lock.unlock()
    upstreams.add(subscription)
  }
}

/// As Apple's enumeration shows its case: programs that encode a `Published` look for `storage`, and `value` in it.
extension PublishedSubject: CustomReflectable {
  @usableFromInline var customMirror: Mirror {
    Mirror(self, children: ["value": value], displayStyle: .class, ancestorRepresentation: .suppressed)
  }
}

extension PublishedSubject {
  var publisher: ObservableObjectPublisher? {
    willChange.load(ordering: .acquiring)?.takeUnretainedValue()
  }

  func install(_ publisher: ObservableObjectPublisher) -> ObservableObjectPublisher {
    let reference = Unmanaged.passRetained(publisher)
    let (installed, existing) = willChange.compareExchange(
      expected: nil,
      desired: reference,
      ordering: .acquiringAndReleasing
    )
    guard !installed, let existing else { return publisher }
    reference.release()
    return existing.takeUnretainedValue()
  }
}
