/// One thing that is known about an event, by name: what ``JSONLines`` writes, for programs to read.
///
///     [EventField("attempt", 2), EventField("delay", .seconds(1))]   // "attempt":2,"delay":1.0
public struct EventField: Hashable, Sendable {
  /// What is known.
  public enum Value: Hashable, Sendable {
    /// A text.
    case text(String)
    /// A number.
    case number(Double)
    /// A whole number.
    case whole(Int)
    /// Whether it is so.
    case flag(Bool)
    /// Several things, by name.
    case object([EventField])
  }

  /// What it is called, in lower case, with underscores between words.
  public let name: String
  /// What is known.
  public let value: Value

  /// Describes a field.
  public init(_ name: String, _ value: Value) {
    (self.name, self.value) = (name, value)
  }

  /// Describes a text.
  public init(_ name: String, _ text: String) { self.init(name, .text(text)) }

  /// Describes a whole number.
  public init(_ name: String, _ number: Int) { self.init(name, .whole(number)) }

  /// Describes a number; one that is none, or infinite, is written as `null`.
  public init(_ name: String, _ number: Double) { self.init(name, .number(number)) }

  /// Describes a length of time, in seconds to the microsecond.
  public init(_ name: String, _ duration: Duration) {
    self.init(name, .number((duration.inSeconds * 1e6).rounded() / 1e6))
  }

  /// Describes whether something is so.
  public init(_ name: String, _ flag: Bool) { self.init(name, .flag(flag)) }

  /// Describes several things.
  public init(_ name: String, _ fields: [EventField]) { self.init(name, .object(fields)) }
}

// MARK: - As JSON

extension EventField {
  /// How many characters of Unicode, its scalars, a text has at most in a line; what is longer ends in an ellipsis.
  static let longestText = 4_000

  /// Writes the field as a member of an object of JSON, with a comma before it.
  ///
  /// - Parameter hide: Leaves out of texts what must not be seen.
  func write(into json: inout String, hiding hide: (String) -> String) {
    json += ","
    Self.write(name, into: &json)
    json += ":"
    switch value {
    case .text(let text): Self.write(hide(Self.cut(text)), into: &json)
    case .number(let number): json += number.isFinite ? "\(number)" : "null"
    case .whole(let number): json += "\(number)"
    case .flag(let flag): json += flag ? "true" : "false"
    case .object(let fields):
      var members = ""
      for field in fields { field.write(into: &members, hiding: hide) }
      json += "{\(members.dropFirst())}"
    }
  }

  private static func cut(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: longestText, limitedBy: scalars.endIndex),
      end < scalars.endIndex
    else { return text }
    return String(scalars[..<end]) + "…"
  }

  /// Writes a text in quotes (RFC 8259 §7).
  ///
  /// Escaped is also what is no visible character: other controls than JSON demands, separators of lines and paragraphs,
  /// at which some readers part lines, and signs that change the direction of text.
  private static func write(_ text: String, into json: inout String) {
    json += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": json += "\\\""
      case "\\": json += "\\\\"
      case "\n": json += "\\n"
      case "\r": json += "\\r"
      case "\t": json += "\\t"
      case " "..."~": json.unicodeScalars.append(scalar)
      default:
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator:
          for unit in String(scalar).utf16 {
            json += "\\u" + unit.hexadecimal
          }
        default: json.unicodeScalars.append(scalar)
        }
      }
    }
    json += "\""
  }
}
