/// What came is not what a marble diagram says.
public struct MarbleMismatch: Error, Sendable {
  /// Where the diagram stands in the test.
  public let location: CodeLocation
  /// What is different, in words.
  public let problem: String
  /// Expected and actual marbles, one above the other, frame under frame.
  public let diagram: String
}

extension MarbleMismatch: CustomStringConvertible {
  /// What is different and where, above the marbles.
  public var description: String { "\(location): \(problem)\n\(diagram)" }
}
