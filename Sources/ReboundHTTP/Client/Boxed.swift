/// A value in an object of its own: one word to copy, however large the value is.
///
/// For what is handed on at each step of its way, and changed at few of them. It is copied before it is changed, unless nobody
/// else has it.
struct Boxed<Value: Sendable>: Sendable {
  /// Unchecked, because its value is changed only by whoever has the only reference.
  private final class Box: @unchecked Sendable {
    @exclusivity(unchecked) var value: Value

    init(_ value: Value) {
      self.value = value
    }
  }

  private var box: Box

  init(_ value: Value) {
    box = Box(value)
  }

  var value: Value {
    get { box.value }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }
}
