import StreamSupport

/// The publishers of objects without any `Published` field, which have no place for one.
let ownPublishers = PublisherTable()

/// One publisher for each object, as long as the object lives.
///
/// Objects are held weakly. What is left of those that are gone is swept out each time the table has grown to twice what
/// the last sweep left, so it is never more than what the living take, and a few.
///
/// Unchecked, because the lock guards all it knows.
final class PublisherTable: @unchecked Sendable {
  private struct Entry {
    weak var object: AnyObject?
    let publisher: ObservableObjectPublisher
  }

  private static let smallestSizeToSweep = 16

  private let lock = Lock()
  // Guarded by `lock`.
  private var entries: [ObjectIdentifier: Entry] = [:]
  private var sizeToSweep = PublisherTable.smallestSizeToSweep

  /// How many entries there are, of living objects or not.
  var count: Int { lock.withLock { entries.count } }

  /// The publisher of an object, the same each time.
  func publisher(of object: AnyObject) -> ObservableObjectPublisher {
    if let existing = lock.withLock({ existingPublisher(of: object) }) { return existing }
    let made = Entry(object: object, publisher: ObservableObjectPublisher())
    // An object that is going already can't be held weakly, and nobody will ask for its publisher again.
    guard made.object != nil else { return made.publisher }
    lock.lock()
    if let existing = existingPublisher(of: object) {
      lock.unlock()
      return existing
    }
    let replaced = insert(made, for: ObjectIdentifier(object))
    lock.unlock()
    // Outside the lock: with a publisher its subscribers may go, and with a reference an object.
    withExtendedLifetime(replaced) {}
    return made.publisher
  }

  /// What the table has for an object.
  ///
  /// An entry at its address may be what is left of another one; then its weak reference is empty.
  private func existingPublisher(of object: AnyObject) -> ObservableObjectPublisher? {
    guard let entry = entries[ObjectIdentifier(object)], entry.object === object else { return nil }
    return entry.publisher
  }

  /// Adds an entry, and gives back what must not be released under the lock.
  private func insert(_ entry: Entry, for identifier: ObjectIdentifier) -> [(Entry, AnyObject?)] {
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
