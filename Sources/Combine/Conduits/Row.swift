/// What one of several inputs has brought and not given away yet.
@usableFromInline
protocol Column<Element> {
  associatedtype Element

  init()

  var isEmpty: Bool { get }

  /// Puts an element in, and gives the one that it displaces, which is to be released where foreign code may run.
  mutating func put(_ element: Element) -> Element?

  /// The element that is next; nil if there is none.
  mutating func take() -> Element?
}

extension Queue: Column {
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
struct Newest<Element>: Column {
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

/// Columns side by side, which give a tuple when none is empty.
@usableFromInline
protocol Row<Output> {
  associatedtype Output

  init()

  /// Takes an element of each column; nil, with nothing taken, if one is empty.
  mutating func take() -> Output?

  /// Whether the column of an index is empty.
  func isEmpty(at index: Int) -> Bool

  /// What waits in each column, for reflection.
  var buffers: [Any] { get }
}

/// One column of a row, known at compile time.
@usableFromInline
protocol Seat {
  associatedtype R: Row
  associatedtype Input

  static var index: Int { get }

  /// Puts an input into the column, and gives the one that it displaces.
  static func put(_ input: Input, into row: inout R) -> Input?
}

@usableFromInline
struct Row2<A: Column, B: Column>: Row {
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

  @usableFromInline var buffers: [Any] { [a, b] }

  @usableFromInline
  enum SeatA: Seat {
    @inlinable static var index: Int { 0 }
    @inlinable @inline(__always)
    static func put(_ input: A.Element, into row: inout Row2) -> A.Element? { row.a.put(input) }
  }

  @usableFromInline
  enum SeatB: Seat {
    @inlinable static var index: Int { 1 }
    @inlinable @inline(__always)
    static func put(_ input: B.Element, into row: inout Row2) -> B.Element? { row.b.put(input) }
  }
}

@usableFromInline
struct Row3<A: Column, B: Column, C: Column>: Row {
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

  @usableFromInline var buffers: [Any] { [a, b, c] }

  @usableFromInline
  enum SeatA: Seat {
    @inlinable static var index: Int { 0 }
    @inlinable @inline(__always)
    static func put(_ input: A.Element, into row: inout Row3) -> A.Element? { row.a.put(input) }
  }

  @usableFromInline
  enum SeatB: Seat {
    @inlinable static var index: Int { 1 }
    @inlinable @inline(__always)
    static func put(_ input: B.Element, into row: inout Row3) -> B.Element? { row.b.put(input) }
  }

  @usableFromInline
  enum SeatC: Seat {
    @inlinable static var index: Int { 2 }
    @inlinable @inline(__always)
    static func put(_ input: C.Element, into row: inout Row3) -> C.Element? { row.c.put(input) }
  }
}

@usableFromInline
struct Row4<A: Column, B: Column, C: Column, D: Column>: Row {
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

  @usableFromInline var buffers: [Any] { [a, b, c, d] }

  @usableFromInline
  enum SeatA: Seat {
    @inlinable static var index: Int { 0 }
    @inlinable @inline(__always)
    static func put(_ input: A.Element, into row: inout Row4) -> A.Element? { row.a.put(input) }
  }

  @usableFromInline
  enum SeatB: Seat {
    @inlinable static var index: Int { 1 }
    @inlinable @inline(__always)
    static func put(_ input: B.Element, into row: inout Row4) -> B.Element? { row.b.put(input) }
  }

  @usableFromInline
  enum SeatC: Seat {
    @inlinable static var index: Int { 2 }
    @inlinable @inline(__always)
    static func put(_ input: C.Element, into row: inout Row4) -> C.Element? { row.c.put(input) }
  }

  @usableFromInline
  enum SeatD: Seat {
    @inlinable static var index: Int { 3 }
    @inlinable @inline(__always)
    static func put(_ input: D.Element, into row: inout Row4) -> D.Element? { row.d.put(input) }
  }
}
