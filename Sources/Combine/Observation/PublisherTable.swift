import StreamSupport

/// The publishers of objects without any `Published` field, which have no place for one.
let ownPublishers = PublisherTable()

/// One publisher for each object, as long as the object lives.
///
/// Objects are held weakly. What is left of those that are gone is swept out each time the table has grown to twice what
/// the last sweep left, so it is never more than what the living take, and a few.
final class PublisherTable: Sendable {
  private struct Entry {
    weak var object: AnyObject?
    let publisher: ObservableObjectPublisher
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    var sizeToSweep = State.smallestSizeToSweep

    private static let smallestSizeToSweep = 16

    /// What the table has for an object.
    ///
    /// An entry at its address may be what is left of another one; then its weak reference is empty.
    func publisher(of object: AnyObject) -> ObservableObjectPublisher? {
      guard let entry = entries[ObjectIdentifier(object)], entry.object === object else { return nil }
      return entry.publisher
    }

    /// Adds an entry, and gives back what must not be released under the lock.
    mutating func insert(_ entry: Entry, for identifier: ObjectIdentifier) -> [(Entry, AnyObject?)] {
      var released = entries[identifier].map { [($0, $0.object)] } ?? []
      if entries.count >= sizeToSweep {
        // Looking at a weak reference makes a strong one, which may become the last.
        released += entries.values.map { ($0, $0.object) }
        entries = entries.filter { $0.value.object != nil }
        sizeToSweep = max(Self.smallestSizeToSweep, entries.count * 2)
      }
      entries[identifier] = entry
      return released
    }
  }

  private let state = Locked(State())

  /// How many entries there are, of living objects or not.
  var count: Int { state.withLock { $0.entries.count } }

  /// The publisher of an object, the same each time.
  func publisher(of object: AnyObject) -> ObservableObjectPublisher {
    if let existing = state.withLock({ $0.publisher(of: object) }) { return existing }
    let made = Entry(object: object, publisher: ObservableObjectPublisher())
    // An object that is going already can't be held weakly, and nobody will ask for its publisher again.
    guard made.object != nil else { return made.publisher }
    let (publisher, replaced) = state.withLock { state in
      if let existing = state.publisher(of: object) { return (existing, []) }
      return (made.publisher, state.insert(made, for: ObjectIdentifier(object)))
    }
    // Outside the lock: with a publisher its subscribers may go, and with a reference an object.
    withExtendedLifetime(replaced) {}
    return publisher
  }
}
