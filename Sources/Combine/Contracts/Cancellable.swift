/// Something under way that can be stopped.
public protocol Cancellable {
  /// Stops the activity and frees what it holds. Idempotent.
  func cancel()
}

extension Cancellable {
  /// Keeps this in a collection, so that it is cancelled when the collection goes.
  public func store<C>(in collection: inout C) where C: RangeReplaceableCollection, C.Element == AnyCancellable {
    AnyCancellable(self).store(in: &collection)
  }

  /// Keeps this in a set, so that it is cancelled when the set goes.
  public func store(in set: inout Set<AnyCancellable>) {
    AnyCancellable(self).store(in: &set)
  }
}
