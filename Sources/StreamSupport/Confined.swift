/// Carries a value to where one thread at a time uses it, whatever its type says about threads.
///
/// Unchecked: whoever makes one says why no two threads are there at the same time.
public struct Confined<Value>: @unchecked Sendable {
  /// What is carried.
  public var value: Value

  /// Takes a value.
  @inlinable
  public init(_ value: consuming Value) {
    self.value = value
  }
}
