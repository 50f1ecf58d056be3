import StreamSupport

/// What one of several inputs has brought and not given away yet.
@usableFromInline
protocol InputBuffer<Element> {
  associatedtype Element

  init()

  var isEmpty: Bool { get }

  /// Puts an element in, and gives the one that it displaces, which is to be released where foreign code may run.
  mutating func put(_ element: Element) -> Element?

  /// The element that is next; nil if there is none.
  mutating func take() -> Element?
}

extension Queue: InputBuffer {
  @inlinable @inline(__always)
  mutating func put(_ element: Element) -> Element? {
    append(element)
    return nil
  }

  @inlinable @inline(__always)
  mutating func take() -> Element? { popFirst() }
}

/// Keeps the newest element, and gives it any number of times.
@usableFromInline
struct LatestValue<Element>: InputBuffer {
  @usableFromInline var element: Element?

  @inlinable @inline(__always)
  init() {}

  @inlinable @inline(__always)
  var isEmpty: Bool { element == nil }

  @inlinable @inline(__always)
  mutating func put(_ element: Element) -> Element? {
    let previous = self.element
    self.element = element
    return previous
  }

  @inlinable @inline(__always)
  mutating func take() -> Element? { element }
}

/// Buffers side by side, which give a tuple when none is empty.
@usableFromInline
protocol InputBuffers<Output> {
  associatedtype Output

  init()

  /// Takes an element of each buffer; nil, with nothing taken, if one is empty.
  mutating func take() -> Output?

  /// Whether the buffer of an index is empty.
  func isEmpty(at index: Int) -> Bool

  /// What waits in each buffer, for reflection.
  var contents: [Any] { get }
}

/// One buffer of a row, known at compile time.
@usableFromInline
protocol InputSlot {
  associatedtype Buffers: InputBuffers
  associatedtype Input

  static var index: Int { get }

  /// Puts an input into the buffer, and gives the one that it displaces.
  static func put(_ input: Input, into buffers: inout Buffers) -> Input?
}

@usableFromInline
struct InputBuffers2<A: InputBuffer, B: InputBuffer>: InputBuffers {
  @usableFromInline var a = A()
  @usableFromInline var b = B()

  @inlinable @inline(__always)
  init() {}

  @inlinable @inline(__always)
  mutating func take() -> (A.Element, B.Element)? {
    guard !a.isEmpty, !b.isEmpty, let first = a.take(), let second = b.take() else { return nil }
    return (first, second)
  }

  @inlinable @inline(__always)
  func isEmpty(at index: Int) -> Bool { index == 0 ? a.isEmpty : b.isEmpty }

  @usableFromInline var contents: [Any] { [a, b] }

  @usableFromInline
  enum SlotA: InputSlot {
    @inlinable static var index: Int { 0 }
    @inlinable @inline(__always)
    static func put(_ input: A.Element, into buffers: inout InputBuffers2) -> A.Element? { buffers.a.put(input) }
  }

  @usableFromInline
  enum SlotB: InputSlot {
    @inlinable static var index: Int { 1 }
    @inlinable @inline(__always)
    static func put(_ input: B.Element, into buffers: inout InputBuffers2) -> B.Element? { buffers.b.put(input) }
  }
}

@usableFromInline
struct InputBuffers3<A: InputBuffer, B: InputBuffer, C: InputBuffer>: InputBuffers {
  @usableFromInline var a = A()
  @usableFromInline var b = B()
  @usableFromInline var c = C()

  @inlinable @inline(__always)
  init() {}

  @inlinable @inline(__always)
  mutating func take() -> (A.Element, B.Element, C.Element)? {
    guard !a.isEmpty, !b.isEmpty, !c.isEmpty, let first = a.take(), let second = b.take(), let third = c.take()
    else { return nil }
    return (first, second, third)
  }

  @inlinable @inline(__always)
  func isEmpty(at index: Int) -> Bool { index == 0 ? a.isEmpty : index == 1 ? b.isEmpty : c.isEmpty }

  @usableFromInline var contents: [Any] { [a, b, c] }

  @usableFromInline
  enum SlotA: InputSlot {
    @inlinable static var index: Int { 0 }
    @inlinable @inline(__always)
    static func put(_ input: A.Element, into buffers: inout InputBuffers3) -> A.Element? { buffers.a.put(input) }
  }

  @usableFromInline
  enum SlotB: InputSlot {
    @inlinable static var index: Int { 1 }
    @inlinable @inline(__always)
    static func put(_ input: B.Element, into buffers: inout InputBuffers3) -> B.Element? { buffers.b.put(input) }
  }

  @usableFromInline
  enum SlotC: InputSlot {
    @inlinable static var index: Int { 2 }
    @inlinable @inline(__always)
    static func put(_ input: C.Element, into buffers: inout InputBuffers3) -> C.Element? { buffers.c.put(input) }
  }
}

@usableFromInline
struct InputBuffers4<A: InputBuffer, B: InputBuffer, C: InputBuffer, D: InputBuffer>: InputBuffers {
  @usableFromInline var a = A()
  @usableFromInline var b = B()
  @usableFromInline var c = C()
  @usableFromInline var d = D()

  @inlinable @inline(__always)
  init() {}

  @inlinable @inline(__always)
  mutating func take() -> (A.Element, B.Element, C.Element, D.Element)? {
    guard !a.isEmpty, !b.isEmpty, !c.isEmpty, !d.isEmpty,
      let first = a.take(), let second = b.take(), let third = c.take(), let fourth = d.take()
    else { return nil }
    return (first, second, third, fourth)
  }

  @inlinable @inline(__always)
  func isEmpty(at index: Int) -> Bool {
    switch index {
    case 0: a.isEmpty
    case 1: b.isEmpty
    case 2: c.isEmpty
    default: d.isEmpty
    }
  }

  @usableFromInline var contents: [Any] { [a, b, c, d] }

  @usableFromInline
  enum SlotA: InputSlot {
    @inlinable static var index: Int { 0 }
    @inlinable @inline(__always)
    static func put(_ input: A.Element, into buffers: inout InputBuffers4) -> A.Element? { buffers.a.put(input) }
  }

  @usableFromInline
  enum SlotB: InputSlot {
    @inlinable static var index: Int { 1 }
    @inlinable @inline(__always)
    static func put(_ input: B.Element, into buffers: inout InputBuffers4) -> B.Element? { buffers.b.put(input) }
  }

  @usableFromInline
  enum SlotC: InputSlot {
    @inlinable static var index: Int { 2 }
    @inlinable @inline(__always)
    static func put(_ input: C.Element, into buffers: inout InputBuffers4) -> C.Element? { buffers.c.put(input) }
  }

  @usableFromInline
  enum SlotD: InputSlot {
    @inlinable static var index: Int { 3 }
    @inlinable @inline(__always)
    static func put(_ input: D.Element, into buffers: inout InputBuffers4) -> D.Element? { buffers.d.put(input) }
  }
}
