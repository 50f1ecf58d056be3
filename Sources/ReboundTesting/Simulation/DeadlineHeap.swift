/// What is due at moments, the earliest first; of one moment, in the order in which it came.
struct DeadlineHeap<Element> {
  private struct Entry {
    let moment: Int
    let number: Int
    let element: Element

    func isBefore(_ other: Entry) -> Bool { (moment, number) < (other.moment, other.number) }
  }

  private var entries: [Entry] = []
  private var inserted = 0

  /// The earliest moment.
  var first: Int? { entries.first?.moment }

  func count(where isCounted: (Element) -> Bool) -> Int { entries.count { isCounted($0.element) } }

  /// - Complexity: O(log *n*).
  mutating func insert(_ element: Element, at moment: Int) {
    inserted += 1
    entries.append(Entry(moment: moment, number: inserted, element: element))
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].isBefore(entries[parent]) else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  /// - Complexity: O(log *n*).
  mutating func popFirst() -> Element? {
    guard let first = entries.first, let last = entries.popLast() else { return nil }
    guard !entries.isEmpty else { return first.element }
    entries[0] = last
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < entries.count else { break }
      if child + 1 < entries.count, entries[child + 1].isBefore(entries[child]) { child += 1 }
      guard entries[child].isBefore(entries[parent]) else { break }
      entries.swapAt(child, parent)
      parent = child
    }
    return first.element
  }

  /// Drops the earliest for as long as it is not wanted.
  mutating func removeFirst(while isUnwanted: (Element) -> Bool) {
    while let first = entries.first, isUnwanted(first.element) { _ = popFirst() }
  }
}
