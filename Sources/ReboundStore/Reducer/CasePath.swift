/// One case of an enumeration, both ways: puts a value into it, and takes the value out again.
///
///     CasePath(AppAction.animals) { if case .animals(let action) = $0 { action } else { nil } }
public struct CasePath<Root, Value>: Sendable {
  /// Puts a value into the case.
  public let embed: @Sendable (Value) -> Root
  /// The value of the case; `nil` if the root is another case.
  public let extract: @Sendable (Root) -> Value?

  /// Makes a path to a case.
  ///
  /// - Parameters:
  ///   - embed: Puts a value into the case; the case's own name does.
  ///   - extract: Takes the value out, or returns `nil` for another case.
  public init(_ embed: @escaping @Sendable (Value) -> Root, extract: @escaping @Sendable (Root) -> Value?) {
    self.embed = embed
    self.extract = extract
  }
}

extension CasePath where Root == Value {
  /// The path from a value to itself.
  public static var identity: CasePath { CasePath({ $0 }, extract: { $0 }) }
}
