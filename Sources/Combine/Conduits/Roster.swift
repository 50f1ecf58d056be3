import Synchronization

/// A copy of those attached, which keeps them as long as it is needed.
final class Roster {
  let first: UnsafeMutablePointer<RosterEntry>?
  private(set) var count = 0

  init(_ places: ContiguousArray<Place?>) {
    first = places.isEmpty ? nil : .allocate(capacity: places.count)
    for case .some(let place) in places {
      // A place without a port has left; it needs no value.
      guard let port = place.port.load(ordering: .acquiring) else { continue }
      first?.advanced(by: count).initialize(to: RosterEntry(place, port))
      count += 1
    }
    for index in (0..<max(0, count - 1)).reversed() where hasSuccessorOfItsType(index) {
      first?[index].runLength += first?[index + 1].runLength ?? 0
    }
  }

  private func hasSuccessorOfItsType(_ index: Int) -> Bool {
    guard let entry = first?.advanced(by: index) else { return false }
    return entry[0].port._withUnsafeGuaranteedRef { port in
      entry[1].port._withUnsafeGuaranteedRef { type(of: port) == type(of: $0) }
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
struct RosterEntry {
  // Holds one reference.
  @usableFromInline let place: Unmanaged<Place>
  // What `place.port` held when the copy was made, to be used while the roster is open only: then the place holds it
  // still, or it was retired since the round began.
  @usableFromInline let port: Unmanaged<AnyObject>
  // How many entries from this one on have ports of one type.
  @usableFromInline var runLength = 1

  @usableFromInline
  init(_ place: Place, _ port: Unmanaged<AnyObject>) {
    self.place = .passRetained(place)
    self.port = port
  }
}

/// Entries that follow each other and have ports of one type: the values for them go in by one call.
@frozen
@usableFromInline
struct RosterRun {
  @usableFromInline let crowd: Unmanaged<Crowd>
  @usableFromInline let first: UnsafeMutablePointer<RosterEntry>
  @usableFromInline let count: Int
  /// Where to say how many entries were served: fewer than there are if the roster was closed meanwhile.
  @usableFromInline let served: UnsafeMutablePointer<Int>

  @inlinable @inline(__always)
  init(of crowd: Crowd, from first: UnsafeMutablePointer<RosterEntry>, served: UnsafeMutablePointer<Int>) {
    self.crowd = .passUnretained(crowd)
    self.first = first
    count = first.pointee.runLength
    self.served = served
  }

  /// Runs `deliver` for each port while the roster is open.
  @inlinable @inline(__always)
  func walk(_ deliver: (AnyObject) -> Void) {
    var entry = first
    var remaining = count
    // Whoever goes the round keeps the crowd.
    while remaining > 0, crowd._withUnsafeGuaranteedRef({ $0.isOpen.load(ordering: .acquiring) }) {
      entry.pointee.port._withUnsafeGuaranteedRef { deliver($0) }
      entry += 1
      remaining &-= 1
    }
    served.pointee = count &- remaining
  }
}
