import Rebound

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
    // A secret whose end is cut off would not be known as one.
    case .text(let text): Self.write(Self.cut(hide(text)), into: &json)
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
