import Synchronization

/// Opens once, when a result and the first request for it have both come: who comes second delivers.
///
/// No lock, and no result in it: who holds this keeps the result in a field of its own, writes it before
/// ``arrive()`` and takes it out when told to deliver.
@usableFromInline
struct DeferredResult: ~Copyable {
  @usableFromInline
  enum Stage: UInt8, AtomicRepresentable {
    /// Neither result nor request has come.
    case open
    /// A request came first.
    case requested
    /// The result came first, and waits.
    case ready
    /// Both are there; somebody delivers.
    case delivering
    /// Delivered or called off.
    case over
  }

  @usableFromInline let stage = Atomic<Stage>(.open)

  @usableFromInline
  init() {}

  @usableFromInline
  var isOver: Bool { stage.load(ordering: .acquiring) == .over }

  /// Notes a request; true if the result waits, and the caller now has to deliver it.
  @usableFromInline
  func request() -> Bool {
    !move(from: .open, to: .requested) && move(from: .ready, to: .delivering)
  }

  /// What becomes of a result that has come.
  @usableFromInline
  enum Arrival {
    /// It waits for a request.
    case waits
    /// The caller has to deliver it.
    case isWanted
    /// Nobody will ever take it.
    case isLate
  }

  /// Notes that the result is there.
  @usableFromInline
  func arrive() -> Arrival {
    if move(from: .open, to: .ready) { return .waits }
    return move(from: .requested, to: .delivering) ? .isWanted : .isLate
  }

  /// Ends it, and says at which stage it was: a caller who finds it ``Stage/over`` came too late, one who finds it
  /// ``Stage/ready`` has to release the result.
  @usableFromInline
  func end() -> Stage {
    stage.exchange(.over, ordering: .acquiringAndReleasing)
  }

  private func move(from old: Stage, to new: Stage) -> Bool {
    stage.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
  }
}
