import Synchronization

/// Stops an activity when it is cancelled or released, whichever comes first.
public final class AnyCancellable: Cancellable, Hashable {
  // Holds one reference to what is to be stopped; who cancels first takes it out.
  @usableFromInline let activity: Atomic<Unmanaged<AnyObject>?>
  // Stops what `activity` holds; a capture-free closure made where its type is known.
  @usableFromInline let stop: (AnyObject) -> Void

  /// Runs a closure on cancellation, once at most.
  public init(_ cancel: @escaping () -> Void) {
    activity = Atomic(.passRetained(Boxed(cancel)))
    // It gets what is made above, nothing else.
    stop = { unsafeDowncast($0, to: Boxed<() -> Void>.self).content() }
  }

  /// Cancels another activity on cancellation, once at most.
  public init<C>(_ canceller: C) where C: Cancellable {
    activity = Atomic(.passRetained(Boxed(canceller)))
    // It gets what is made above, nothing else.
    stop = { unsafeDowncast($0, to: Boxed<C>.self).content.cancel() }
  }

  /// Cancels an object on cancellation, once at most, without a box.
  @inlinable
  init<C>(stopping object: C) where C: Cancellable, C: AnyObject {
    activity = Atomic(.passRetained(object))
    // It gets this object, nothing else.
    stop = { unsafeDowncast($0, to: C.self).cancel() }
  }

  /// Stops the activity and frees what it holds.
  public func cancel() {
    if let activity = activity.exchange(nil, ordering: .acquiringAndReleasing)?.takeRetainedValue() { stop(activity) }
  }

  deinit {
    // An exchange even here: an activity that ends on another thread may be letting go of itself.
    if activity.load(ordering: .acquiring) != nil { cancel() }
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

/// Makes an object of a value.
private final class Boxed<Content> {
  let content: Content

  init(_ content: Content) {
    self.content = content
  }
}
