extension String {
  /// The text as XML and HTML have it, also in quotes: what they would take for their own is written out, and what no document
  /// may hold is replaced by U+FFFD.
  ///
  /// By scalars, since with a mark that combines with it a sign is another character, and to a parser still the sign.
  package var escapedForXML: String {
    let escaped = unicodeScalars.reduce(into: UnicodeScalarView()) { escaped, scalar in
      switch scalar {
      case "&": escaped += "&amp;".unicodeScalars
      case "<": escaped += "&lt;".unicodeScalars
      case ">": escaped += "&gt;".unicodeScalars
      case "\"": escaped += "&quot;".unicodeScalars
      case "\t", "\n", "\r": escaped.append(scalar)
      case "\0"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": escaped.append("\u{FFFD}")
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}
