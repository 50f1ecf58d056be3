/// Carries a value to a closure that has to be Sendable although it runs where it was made.
///
/// Unchecked: whoever makes one vouches that the value is used on one scheduler only.
public struct Confined<Value>: @unchecked Sendable {
  /// The value.
  public let value: Value

  /// Vouches for a value.
  public init(_ value: Value) {
    self.value = value
  }
}
