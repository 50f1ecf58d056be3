/// A value in an object that never changes: one word to copy, however large the value is.
///
/// For what is handed on at each step of its way, and changed at few of them.
struct Boxed<Value: Sendable>: Sendable {
  private final class Box: Sendable {
    let value: Value

    init(_ value: Value) {
      self.value = value
    }
  }

  private var box: Box

  init(_ value: Value) {
    box = Box(value)
  }

  var value: Value { box.value }

  /// Puts a changed copy in the place of the value.
  mutating func change(_ change: (inout Value) -> Void) {
    var value = box.value
    change(&value)
    box = Box(value)
  }
}
