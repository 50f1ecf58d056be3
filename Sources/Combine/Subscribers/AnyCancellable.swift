import StreamSupport

/// Stops an activity when it is cancelled or released, whichever comes first.
public final class AnyCancellable: Cancellable, Hashable {
  private let lock = Lock()
  // Either an object to cancel or a closure to run; both nil once it is done. Guarded by `lock`.
  @exclusivity(unchecked) private var cancellable: (any Cancellable)?
  @exclusivity(unchecked) private var action: (() -> Void)?

  /// Runs a closure on cancellation, once at most.
  public init(_ cancel: @escaping () -> Void) {
    action = cancel
  }

  /// Cancels another activity on cancellation, once at most.
  public init<C>(_ canceller: C) where C: Cancellable {
    cancellable = canceller
  }

  /// Stops the activity and frees what it holds.
  public func cancel() {
    lock.lock()
    let cancellable = cancellable
    let action = action
    self.cancellable = nil
    self.action = nil
    lock.unlock()
    cancellable?.cancel()
    action?()
  }

  deinit {
    // Nobody else can hold a reference now, so the lock is not needed.
    cancellable?.cancel()
    action?()
  }

  /// Keeps this in a collection, so that it is cancelled when the collection goes.
  public func store<C>(in collection: inout C) where C: RangeReplaceableCollection, C.Element == AnyCancellable {
    collection.append(self)
  }

  /// Keeps this in a set, so that it is cancelled when the set goes.
  public func store(in set: inout Set<AnyCancellable>) {
    set.insert(self)
  }

  /// Mixes in the identity of this object.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }

  /// Whether both are the same object.
  public static func == (lhs: AnyCancellable, rhs: AnyCancellable) -> Bool {
    lhs === rhs
  }
}
