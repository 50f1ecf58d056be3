/// A copy of the subscriptions attached, which keeps them as long as it is needed.
///
/// Walked by pointer: an array would be retained and released for each value.
final class Snapshot {
  let first: UnsafeMutablePointer<Unmanaged<ListedSubscription>>?
  private(set) var count = 0

  /// Copies the subscriptions that have a subscriber; one without has left.
  init(_ subscriptions: ContiguousArray<ListedSubscription?>) {
    first = subscriptions.isEmpty ? nil : .allocate(capacity: subscriptions.count)
    for case .some(let subscription) in subscriptions where subscription.erased.load(ordering: .acquiring) != nil {
      first?.advanced(by: count).initialize(to: .passRetained(subscription))
      count += 1
    }
  }

  deinit {
    for index in 0..<count { first?[index].release() }
    first?.deallocate()
  }
}
