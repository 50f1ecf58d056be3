/// What is due at moments, the earliest first; of one moment, in the order in which it came: a binary heap.
@usableFromInline
package struct DeadlineHeap<Moment: Comparable, Element> {
  @usableFromInline
  struct Entry {
    @usableFromInline let moment: Moment
    @usableFromInline let arrival: Int
    @usableFromInline let element: Element

    @inlinable
    init(_ element: Element, at moment: Moment, arrival: Int) {
      (self.element, self.moment, self.arrival) = (element, moment, arrival)
    }

    @inlinable @inline(__always)
    func isBefore(_ other: Entry) -> Bool {
      moment == other.moment ? arrival < other.arrival : moment < other.moment
    }
  }

  @usableFromInline var entries: [Entry] = []
  @usableFromInline var arrivals = 0

  /// Makes one in which nothing is due.
  @inlinable
  package init() {}

  /// How many there are.
  @inlinable package var count: Int { entries.count }

  /// Whether there is none.
  @inlinable package var isEmpty: Bool { entries.isEmpty }

  /// What is due first, and when.
  @inlinable package var first: (moment: Moment, element: Element)? { entries.first.map { ($0.moment, $0.element) } }

  /// The earliest moment.
  @inlinable package var firstMoment: Moment? { entries.first?.moment }

  /// The earliest moment of one that is wanted.
  ///
  /// - Complexity: O(1) if the first of all is wanted, O(*n*) otherwise.
  @inlinable
  package func firstMoment(where isWanted: (Element) -> Bool) -> Moment? {
    guard let first = entries.first, !isWanted(first.element) else { return firstMoment }
    var earliest: Moment?
    for entry in entries where isWanted(entry.element) {
      earliest = earliest.map { min($0, entry.moment) } ?? entry.moment
    }
    return earliest
  }

  /// How many there are of a kind.
  ///
  /// - Complexity: O(*n*).
  @inlinable
  package func count(where isCounted: (Element) -> Bool) -> Int { entries.count { isCounted($0.element) } }

  /// Makes room for so many.
  @inlinable
  package mutating func reserveCapacity(_ capacity: Int) {
    entries.reserveCapacity(capacity)
  }

  /// Puts one behind all that are due at the same moment.
  ///
  /// - Complexity: O(log *n*).
  @inlinable
  package mutating func insert(_ element: Element, at moment: Moment) {
    arrivals += 1
    let entry = Entry(element, at: moment, arrival: arrivals)
    entries.append(entry)
    // Those in the way are shifted and not swapped: half the writes.
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entry.isBefore(entries[parent]) else { break }
      entries[child] = entries[parent]
      child = parent
    }
    entries[child] = entry
  }

  /// Takes out what is due first.
  ///
  /// - Complexity: O(log *n*).
  @inlinable
  package mutating func popFirst() -> (moment: Moment, element: Element)? {
    guard let last = entries.popLast() else { return nil }
    guard let first = entries.first else { return (last.moment, last.element) }
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < entries.count else { break }
      if child + 1 < entries.count, entries[child + 1].isBefore(entries[child]) { child += 1 }
      guard entries[child].isBefore(last) else { break }
      entries[parent] = entries[child]
      parent = child
    }
    entries[parent] = last
    return (first.moment, first.element)
  }

  /// Drops the earliest for as long as it is not wanted.
  @inlinable
  package mutating func removeFirst(while isUnwanted: (Element) -> Bool) {
    while let first = entries.first, isUnwanted(first.element) { _ = popFirst() }
  }

  /// Drops all that are not wanted, wherever they are; the others keep their order.
  ///
  /// - Complexity: O(*n* log *n*).
  @inlinable
  package mutating func removeAll(where isUnwanted: (Element) -> Bool) {
    entries.removeAll { isUnwanted($0.element) }
    // A sorted array is a heap.
    entries.sort { $0.isBefore($1) }
  }
}

extension DeadlineHeap: Sendable where Moment: Sendable, Element: Sendable {}
extension DeadlineHeap.Entry: Sendable where Moment: Sendable, Element: Sendable {}
