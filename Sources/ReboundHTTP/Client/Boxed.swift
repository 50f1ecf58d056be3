/// A value in an object of its own: one word to copy, however large the value is.
///
/// For what is handed on at each step of its way, and changed at few of them. It is copied before it is changed, unless nobody
/// else has it.
struct Boxed<Value: Sendable>: Sendable {
  // An array of one is just that: its place is changed where it is if nobody else has it.
  private var place: ContiguousArray<Value>

  init(_ value: Value) {
    place = [value]
  }

  var value: Value {
    get { place[0] }
    _modify { yield &place[0] }
  }
}
