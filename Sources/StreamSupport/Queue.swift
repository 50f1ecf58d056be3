/// A line of waiting elements: in at the back, out at the front, both in constant time on average.
///
/// The front element has a place of its own, so that a queue which never holds more than one allocates nothing.
@frozen
public struct Queue<Element> {
  @usableFromInline var front: Element?
  // A ring; its length is zero or a power of two.
  @usableFromInline var ring: ContiguousArray<Element?> = []
  @usableFromInline var start = 0
  @usableFromInline var countInRing = 0

  /// Makes an empty queue.
  @inlinable @inline(__always)
  public init() {}

  /// What leaves next; `nil` if nothing waits.
  @inlinable @inline(__always)
  public var first: Element? { front }

  /// Whether nothing waits.
  @inlinable @inline(__always)
  public var isEmpty: Bool { front == nil }

  /// How many wait.
  @inlinable
  public var count: Int { front == nil ? 0 : countInRing + 1 }

  /// The elements in order, for reflection.
  public var elements: [Element] {
    [front].compactMap(\.self) + (0..<countInRing).compactMap { ring[(start + $0) & (ring.count - 1)] }
  }

  /// Puts an element at the back.
  @inlinable @inline(__always)
  public mutating func append(_ element: Element) {
    if front == nil { front = element } else { appendToRing(element) }
  }

  /// Takes out the element at the front; `nil` if nothing waits.
  @inlinable @inline(__always)
  public mutating func popFirst() -> Element? {
    let element = front
    if countInRing == 0 { front = nil } else { front = popFromRing() }
    return element
  }

  /// Takes out the element that so many others leave before; `nil` if there is none.
  ///
  /// - Complexity: O(1) for the front, else O(*n*), where *n* is how many wait behind the element.
  @inlinable
  public mutating func remove(at index: Int) -> Element? {
    guard index > 0 else { return popFirst() }
    guard index <= countInRing else { return nil }
    let mask = ring.count &- 1
    let element = ring[(start &+ index &- 1) & mask]
    for behind in index..<countInRing { ring[(start &+ behind &- 1) & mask] = ring[(start &+ behind) & mask] }
    countInRing -= 1
    ring[(start &+ countInRing) & mask] = nil
    return element
  }

  @inlinable
  mutating func appendToRing(_ element: Element) {
    if countInRing == ring.count { growRing() }
    ring[(start &+ countInRing) & (ring.count &- 1)] = element
    countInRing += 1
  }

  @inlinable
  mutating func popFromRing() -> Element? {
    let element = ring[start]
    ring[start] = nil
    start = (start &+ 1) & (ring.count &- 1)
    countInRing -= 1
    // What a burst needed is not kept for ever.
    if countInRing == 0, ring.count > 1024 {
      ring = []
      start = 0
    }
    return element
  }

  @inlinable
  mutating func growRing() {
    var larger = ContiguousArray<Element?>()
    larger.reserveCapacity(max(4, 2 * ring.count))
    larger.append(contentsOf: ring[start...])
    larger.append(contentsOf: ring[..<start])
    larger.append(contentsOf: repeatElement(nil, count: max(4, 2 * ring.count) - ring.count))
    ring = larger
    start = 0
  }
}
