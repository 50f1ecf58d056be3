import Synchronization

/// The subscription of a source that delivers from within `request`: one drain at a time, restarted by demand.
///
/// The base of the operators for sequences and single values. Not generic; the subclass gives its duties as a capture-free
/// closure made where its types are concrete, see ``ErasedSubscriber``.
@usableFromInline
class SynchronousSource: SubscriptionBase, ReflectedSubscription {
  /// What a source is at, in two bits.
  @usableFromInline
  enum State {
    @inlinable static var idle: UInt8 { 0 }
    @inlinable static var draining: UInt8 { 1 }
    @inlinable static var over: UInt8 { 2 }
  }

  // What was asked and not yet delivered.
  @usableFromInline let outstanding = DemandCounter()
  @usableFromInline let state = Atomic<UInt8>(State.idle)

  /// What a subclass does where its types are concrete.
  @frozen
  @usableFromInline
  enum Duty {
    /// Deliver while something is owed, and call ``finish()`` at the end. Runs on one thread at a time.
    case drain
    /// Let go of downstream and values. Called once, after the end, with no drain under way.
    case release
    /// Destroy what is left. Called once, at the very last.
    case destroy
  }

  @usableFromInline let perform: (AnyObject, Duty) -> Void

  @inlinable
  init(perform: @escaping (AnyObject, Duty) -> Void) {
    self.perform = perform
  }

  /// Whether it was cancelled or has ended.
  @inlinable @inline(__always)
  final var isOver: Bool { state.load(ordering: .acquiring) & State.over != 0 }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    guard demand != .none else { return }
    outstanding.add(demand)
    runDrain()
  }

  @usableFromInline
  final func runDrain() {
    guard begin() else { return }
    repeat {
      repeat { perform(self, .drain) } while !isOver && outstanding.demand != Subscribers.Demand.none
      guard
        state.compareExchange(expected: State.draining, desired: State.idle, ordering: .acquiringAndReleasing).exchanged
      else { return perform(self, .release) }
      // Who asked meanwhile and found the drain under way has left it to this one.
    } while outstanding.hasDemand() && begin()
  }

  private func begin() -> Bool {
    state.compareExchange(expected: State.idle, desired: State.draining, ordering: .acquiringAndReleasing).exchanged
  }

  /// Marks the end.
  ///
  /// What the source holds goes when the drain has returned.
  @usableFromInline
  final func finish() {
    state.bitwiseOr(State.over, ordering: .acquiringAndReleasing)
  }

  @usableFromInline
  override final func cancel() {
    let before = state.bitwiseOr(State.over, ordering: .acquiringAndReleasing).oldValue
    if before == State.idle { perform(self, .release) }
  }
}
