/// Carries something that is not `Sendable` to where one thread at a time uses it.
///
/// Unchecked: whoever makes one says why no two threads are there at the same time.
struct Confined<Value>: @unchecked Sendable {
  var value: Value

  init(_ value: Value) {
    self.value = value
  }
}
