/// A place in the code of a test, for a message that says where to look.
///
/// The aids of this module import no test framework: they throw an error that holds this. With Swift Testing, a
/// `SourceLocation` is made of the same four parts; `XCTFail` takes ``filePath`` and ``line``.
public struct CodeLocation: Sendable {
  /// The module and the file: "SearchTests/TypingTests.swift".
  public let fileID: String
  /// The file, with its whole path.
  public let filePath: StaticString
  /// The line, from 1.
  public let line: Int
  /// The column, from 1.
  public let column: Int

  /// Names a place in the code.
  ///
  /// - Parameters:
  ///   - fileID: The module and the file.
  ///   - filePath: The file, with its whole path.
  ///   - line: The line, from 1.
  ///   - column: The column, from 1.
  public init(fileID: String, filePath: StaticString, line: Int, column: Int) {
    self.fileID = fileID
    self.filePath = filePath
    self.line = line
    self.column = column
  }
}

extension CodeLocation: CustomStringConvertible {
  /// File and line: "TypingTests.swift:12".
  public var description: String {
    "\(fileID.split(separator: "/").last ?? "?"):\(line)"
  }
}
