import StreamSupport
import Synchronization

/// The subscription of a source that delivers from within `request`: one drain at a time, restarted by demand.
///
/// The base of the pipes for sequences and single values. Not generic; the subclass gives its duties as a capture-free
/// closure made where its types are concrete, see ``Port``.
@usableFromInline
class Source: Subscription, CustomStringConvertible, CustomReflectable, CustomPlaygroundDisplayConvertible {
  @usableFromInline let lock = Lock()
  // What was asked and not yet delivered.
  @usableFromInline let ledger = Ledger()
  @usableFromInline let isOver = Atomic<Bool>(false)
  // Guarded by `lock`.
  @exclusivity(unchecked) @usableFromInline var isDraining = false
  /// What a subclass does where its types are concrete.
  @frozen
  @usableFromInline
  enum Duty {
    /// Deliver while something is owed, and call ``finish()`` at the end. Runs on one thread at a time.
    case drain
    /// Let go of downstream and values. Called once, after the end, with no drain under way.
    case release
  }

  @usableFromInline let perform: (AnyObject, Duty) -> Void

  @inlinable
  init(perform: @escaping (AnyObject, Duty) -> Void) {
    self.perform = perform
  }

  @usableFromInline
  func request(_ demand: Subscribers.Demand) {
    guard demand != .none else { return }
    ledger.owe(demand)
    runDrain()
  }

  @usableFromInline
  final func runDrain() {
    lock.lock()
    guard !isDraining, !isOver.load(ordering: .relaxed) else {
      lock.unlock()
      return
    }
    isDraining = true
    lock.unlock()
    while true {
      perform(self, .drain)
      lock.lock()
      if isOver.load(ordering: .relaxed) || ledger.demand == Subscribers.Demand.none { break }
      lock.unlock()
    }
    isDraining = false
    let isOver = isOver.load(ordering: .relaxed)
    lock.unlock()
    if isOver { perform(self, .release) }
  }

  /// Marks the end.
  ///
  /// What the source holds goes when the drain has returned.
  @usableFromInline
  final func finish() {
    lock.lock()
    isOver.store(true, ordering: .releasing)
    lock.unlock()
  }

  @usableFromInline
  final func cancel() {
    lock.lock()
    let wasOver = isOver.load(ordering: .relaxed)
    isOver.store(true, ordering: .releasing)
    let isIdle = !isDraining
    lock.unlock()
    if isIdle, !wasOver { perform(self, .release) }
  }

  // MARK: Reflection

  @usableFromInline var name: String { "\(type(of: self))" }
  @usableFromInline var children: [(label: String?, value: Any)] { [] }

  @usableFromInline final var description: String { name }
  @usableFromInline final var playgroundDescription: Any { name }
  @usableFromInline
  final var customMirror: Mirror {
    Mirror(self, children: children.map { (label: $0.label, value: $0.value) })
  }
}
