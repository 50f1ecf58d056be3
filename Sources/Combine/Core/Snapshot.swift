import Synchronization

/// A copy of those attached, which keeps them as long as it is needed.
final class Snapshot {
  let first: UnsafeMutablePointer<SnapshotEntry>?
  private(set) var count = 0

  /// Copies the places that have a erased subscriber.
  ///
  /// - Parameter target: what the values for a erased subscriber end up in, if that is known.
  init(_ places: ContiguousArray<ListedSubscription?>, target: (AnyObject) -> AnyObject?) {
    first = places.isEmpty ? nil : .allocate(capacity: places.count)
    for case .some(let place) in places {
      // A place without a erased subscriber has left; it needs no value.
      guard let erased = place.erased.load(ordering: .acquiring) else { continue }
      first?.advanced(by: count).initialize(to: SnapshotEntry(place, erased))
      count += 1
    }
    var end = count
    while end > 0 {
      var start = end - 1
      while start > 0, haveOneType(start - 1, start) { start -= 1 }
      if end - start > 1 { makeRun(start..<end, target) }
      end = start
    }
  }

  private func haveOneType(_ one: Int, _ other: Int) -> Bool {
    guard let first else { return false }
    return first[one].erased._withUnsafeGuaranteedRef { one in
      first[other].erased._withUnsafeGuaranteedRef { type(of: one) == type(of: $0) }
    }
  }

  private func makeRun(_ indices: Range<Int>, _ target: (AnyObject) -> AnyObject?) {
    var isDirect = true
    for index in indices {
      guard let entry = first?.advanced(by: index) else { return }
      entry.pointee.runLength = indices.upperBound - index
      // All or none of one type have a target.
      guard isDirect, let target = entry.pointee.erased._withUnsafeGuaranteedRef(target) else {
        isDirect = false
        continue
      }
      entry.pointee.target = .passUnretained(target)
    }
  }

  deinit {
    for index in 0..<count { first?[index].place.release() }
    first?.deallocate()
  }
}

/// What a round needs of a subscriber.
@frozen
@usableFromInline
struct SnapshotEntry {
  // Holds one reference.
  @usableFromInline let place: Unmanaged<ListedSubscription>
  // What `place.erased subscriber` held when the copy was made, to be used while the snapshot is open only: then the place holds it
  // still, or it was retired since the round began.
  @usableFromInline let erased: Unmanaged<AnyObject>
  // The erased subscriber or, in a run, what its values end up in; kept by the erased subscriber.
  @usableFromInline var target: Unmanaged<AnyObject>
  // How many entries from this one on have erased subscribers of one type.
  @usableFromInline var runLength = 1

  @usableFromInline
  init(_ place: ListedSubscription, _ erased: Unmanaged<AnyObject>) {
    self.place = .passRetained(place)
    self.erased = erased
    target = erased
  }
}

/// Entries that follow each other and have erased subscribers of one type: the values for them go in by one call.
@frozen
@usableFromInline
struct SnapshotRun {
  @usableFromInline let list: Unmanaged<SubscriberList>
  @usableFromInline let first: UnsafeMutablePointer<SnapshotEntry>
  @usableFromInline let count: Int
  /// Whether the targets are not the erased subscribers.
  @usableFromInline let isDirect: Bool
  /// Where to say how many entries were served: fewer than there are if the snapshot was closed meanwhile.
  @usableFromInline let served: UnsafeMutablePointer<Int>

  @inlinable @inline(__always)
  init(of list: SubscriberList, from first: UnsafeMutablePointer<SnapshotEntry>, served: UnsafeMutablePointer<Int>) {
    self.list = .passUnretained(list)
    self.first = first
    count = first.pointee.runLength
    isDirect = first.pointee.target.toOpaque() != first.pointee.erased.toOpaque()
    self.served = served
  }

  /// Runs `deliver` for each target while the snapshot is open.
  @inlinable @inline(__always)
  func walk(_ deliver: (AnyObject) -> Void) {
    var entry = first
    var remaining = count
    // Whoever goes the round keeps the list.
    while remaining > 0, list._withUnsafeGuaranteedRef({ $0.isOpen.load(ordering: .acquiring) }) {
      entry.pointee.target._withUnsafeGuaranteedRef { deliver($0) }
      entry += 1
      remaining &-= 1
    }
    served.pointee = count &- remaining
  }
}
