/// A first-in, first-out queue, with both ends in constant time (adding: amortised).
@usableFromInline
struct Ring<Element> {
  // Its size is 0 or a power of two.
  @usableFromInline var slots: ContiguousArray<Element?> = []
  @usableFromInline var head = 0
  @usableFromInline var count = 0

  @inlinable
  init() {}

  @inlinable @inline(__always)
  mutating func append(_ element: Element) {
    if count == slots.count { grow() }
    slots[(head &+ count) & (slots.count &- 1)] = element
    count &+= 1
  }

  @inlinable @inline(__always)
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = slots[head].take()
    head = (head &+ 1) & (slots.count &- 1)
    count &-= 1
    // What a burst needed is not kept for ever.
    if count == 0, slots.count > 1024 { self = Ring() }
    return element
  }

  @inlinable @inline(never)
  mutating func grow() {
    var larger = ContiguousArray<Element?>(repeating: nil, count: max(8, slots.count * 2))
    for index in 0..<count { larger[index] = slots[(head + index) & (slots.count - 1)].take() }
    slots = larger
    head = 0
  }
}
