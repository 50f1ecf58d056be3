/// The path of a request below the address of its service.
///
///     var path: RequestPath { "users/\(name)/posts" }
///
/// What is written in the literal is the shape of the path, and its slashes part it. What is put in is data: a name with
/// a slash in it stays one step of the path, and one that would lead elsewhere (empty, `.` or `..`) is refused with
/// ``InvalidRequest``, since no encoding keeps clients and servers from following it.
public struct RequestPath: Hashable, Sendable, ExpressibleByStringInterpolation {
  fileprivate enum Piece: Hashable, Sendable {
    case shape(String)
    case value(String)
  }

  fileprivate let pieces: [Piece]

  /// Makes a path of a text whose slashes part it.
  ///
  /// For a path that comes from elsewhere whole. It is encoded as all is: a `?` in it begins no query.
  public init(_ text: String) {
    pieces = [.shape(text)]
  }

  /// Makes a path without data in it.
  public init(stringLiteral text: String) {
    self.init(text)
  }

  /// Makes a path with data in it.
  public init(stringInterpolation: StringInterpolation) {
    pieces = stringInterpolation.pieces
  }

  /// Collects the pieces of a path.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var pieces: [Piece] = []

    /// Makes an empty path.
    public init(literalCapacity: Int, interpolationCount: Int) {
      pieces.reserveCapacity(2 * interpolationCount + 1)
    }

    /// Adds to the shape.
    public mutating func appendLiteral(_ literal: String) {
      if !literal.isEmpty { pieces.append(.shape(literal)) }
    }

    /// Adds data.
    public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      pieces.append(.value(value.description))
    }
  }

  /// The path, percent-encoded.
  ///
  /// - Throws: ``InvalidRequest/Reason-swift.enum/path(_:)`` if data in it would lead elsewhere.
  func encoded() throws(InvalidRequest.Reason) -> String {
    // Without data in it there is nothing to check.
    if pieces.count == 1, case .shape(let text) = pieces[0] { return PercentEncoding.path(text) }
    var step = Step()
    var encoded = ""
    for piece in pieces {
      switch piece {
      case .shape(let text):
        encoded += PercentEncoding.path(text)
        for byte in text.utf8 {
          guard byte == UInt8(ascii: "/") else {
            step.add(byte)
            continue
          }
          try step.check()
          step = Step()
        }
      case .value(let text):
        encoded += PercentEncoding.value(text)
        for byte in text.utf8 { step.add(byte) }
        step.hasData = true
      }
    }
    try step.check()
    return encoded
  }
}

/// As much of a step of a path as says whether it leads elsewhere.
private struct Step {
  private var length = 0
  private var isDots = true
  var hasData = false

  mutating func add(_ byte: UInt8) {
    length += 1
    isDots = isDots && byte == UInt8(ascii: ".")
  }

  func check() throws(InvalidRequest.Reason) {
    if hasData, isDots, length <= 2 { throw .path(String(repeating: ".", count: length)) }
  }
}
