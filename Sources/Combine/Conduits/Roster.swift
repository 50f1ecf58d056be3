import Synchronization

/// A copy of those attached, which keeps them as long as it is needed.
final class Roster {
  let first: UnsafeMutablePointer<RosterEntry>?
  private(set) var count = 0

  /// Copies the places that have a port.
  ///
  /// - Parameter target: what the values for a port end up in, if that is known.
  init(_ places: ContiguousArray<Place?>, target: (AnyObject) -> AnyObject?) {
    first = places.isEmpty ? nil : .allocate(capacity: places.count)
    for case .some(let place) in places {
      // A place without a port has left; it needs no value.
      guard let port = place.port.load(ordering: .acquiring) else { continue }
      first?.advanced(by: count).initialize(to: RosterEntry(place, port))
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
    return first[one].port._withUnsafeGuaranteedRef { one in
      first[other].port._withUnsafeGuaranteedRef { type(of: one) == type(of: $0) }
    }
  }

  private func makeRun(_ indices: Range<Int>, _ target: (AnyObject) -> AnyObject?) {
    var isDirect = true
    for index in indices {
      guard let entry = first?.advanced(by: index) else { return }
      entry.pointee.runLength = indices.upperBound - index
      // All or none of one type have a target.
      guard isDirect, let target = entry.pointee.port._withUnsafeGuaranteedRef(target) else {
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
struct RosterEntry {
  // Holds one reference.
  @usableFromInline let place: Unmanaged<Place>
  // What `place.port` held when the copy was made, to be used while the roster is open only: then the place holds it
  // still, or it was retired since the round began.
  @usableFromInline let port: Unmanaged<AnyObject>
  // The port or, in a run, what its values end up in; kept by the port.
  @usableFromInline var target: Unmanaged<AnyObject>
  // How many entries from this one on have ports of one type.
  @usableFromInline var runLength = 1

  @usableFromInline
  init(_ place: Place, _ port: Unmanaged<AnyObject>) {
    self.place = .passRetained(place)
    self.port = port
    target = port
  }
}

/// Entries that follow each other and have ports of one type: the values for them go in by one call.
@frozen
@usableFromInline
struct RosterRun {
  @usableFromInline let crowd: Unmanaged<Crowd>
  @usableFromInline let first: UnsafeMutablePointer<RosterEntry>
  @usableFromInline let count: Int
  /// Whether the targets are not the ports.
  @usableFromInline let isDirect: Bool
  /// Where to say how many entries were served: fewer than there are if the roster was closed meanwhile.
  @usableFromInline let served: UnsafeMutablePointer<Int>

  @inlinable @inline(__always)
  init(of crowd: Crowd, from first: UnsafeMutablePointer<RosterEntry>, served: UnsafeMutablePointer<Int>) {
    self.crowd = .passUnretained(crowd)
    self.first = first
    count = first.pointee.runLength
    isDirect = first.pointee.target.toOpaque() != first.pointee.port.toOpaque()
    self.served = served
  }

  /// Runs `deliver` for each target while the roster is open.
  @inlinable @inline(__always)
  func walk(_ deliver: (AnyObject) -> Void) {
    var entry = first
    var remaining = count
    // Whoever goes the round keeps the crowd.
    while remaining > 0, crowd._withUnsafeGuaranteedRef({ $0.isOpen.load(ordering: .acquiring) }) {
      entry.pointee.target._withUnsafeGuaranteedRef { deliver($0) }
      entry += 1
      remaining &-= 1
    }
    served.pointee = count &- remaining
  }
}
