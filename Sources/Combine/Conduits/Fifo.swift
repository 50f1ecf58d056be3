/// A queue: first in, first out.
///
/// - Complexity: O(1) for each element, amortised.
@usableFromInline
struct Fifo<Element> {
  // Taken places are nil, up to `head`.
  @usableFromInline var places: ContiguousArray<Element?> = []
  @usableFromInline var head = 0

  @inlinable
  init() {}

  @inlinable var count: Int { places.count - head }
  @inlinable var isEmpty: Bool { head == places.count }

  /// The elements in order, for reflection.
  @usableFromInline var elements: [Element] { places[head...].compactMap { $0 } }

  @inlinable
  mutating func append(_ element: Element) {
    places.append(element)
  }

  @inlinable
  mutating func popFirst() -> Element? {
    guard head < places.count else { return nil }
    let element = places[head]
    places[head] = nil
    head += 1
    if head == places.count {
      places.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 64, head * 2 >= places.count {
      places.removeFirst(head)
      head = 0
    }
    return element
  }
}
