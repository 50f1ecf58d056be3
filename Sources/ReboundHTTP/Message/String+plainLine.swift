extension String {
  /// One line of plain text, whatever somebody else has put into it: for logs, and for people.
  ///
  /// Tags go; so do controls, invisible characters and those that change the direction of text; white space and line
  /// breaks become a space, and more than four marks on one letter are not shown. What is longer than the limit is cut
  /// off, with an ellipsis.
  ///
  /// - Parameter limit: How many characters of Unicode, its scalars, it has at most.
  /// - Complexity: O(limit), however long the text is.
  func plainLine(limit: Int) -> String {
    var line = String.UnicodeScalarView()
    var (count, marks) = (0, 0)
    var (isInTag, needsSpace) = (false, false)
    let scalars = unicodeScalars
    // Tags and what is left out count, too, but less: nobody writes so many of them for people.
    let end = scalars.index(scalars.startIndex, offsetBy: 16 * limit, limitedBy: scalars.endIndex) ?? scalars.endIndex
    var isCut = end < scalars.endIndex
    for index in scalars[..<end].indices {
      let scalar = scalars[index]
      if isInTag {
        isInTag = scalar != ">"
        needsSpace = true
        continue
      }
      if scalar == "<", let next = scalars[scalars.index(after: index)...].first, next.beginsTag {
        isInTag = true
        continue
      }
      switch scalar.shown {
      case .asSpace:
        needsSpace = true
        continue
      case .notAtAll: continue
      case .asMark:
        marks += 1
        if marks > 4 { continue }
      case .asItIs: marks = 0
      }
      guard count < limit else {
        isCut = true
        break
      }
      if needsSpace, !line.isEmpty {
        line.append(" ")
        count += 1
      }
      needsSpace = false
      line.append(scalar)
      count += 1
    }
    return String(line) + (isCut ? "…" : "")
  }
}

extension Unicode.Scalar {
  fileprivate enum Appearance { case asItIs, asMark, asSpace, notAtAll }

  fileprivate var shown: Appearance {
    switch properties.generalCategory {
    case .control: ["\t", "\n", "\u{B}", "\u{C}", "\r", "\u{85}"].contains(self) ? .asSpace : .notAtAll
    case .lineSeparator, .paragraphSeparator, .spaceSeparator: .asSpace
    // The joiners, without which Persian and emoji are not what they were.
    case .format: ["\u{200C}", "\u{200D}"].contains(self) ? .asMark : .notAtAll
    case .nonspacingMark, .enclosingMark, .spacingMark: .asMark
    case .privateUse, .unassigned, .surrogate: .notAtAll
    default: .asItIs
    }
  }

  /// Whether a tag of HTML, or a comment, begins with this behind the bracket.
  fileprivate var beginsTag: Bool {
    ("a"..."z").contains(self) || ("A"..."Z").contains(self) || "/!?".unicodeScalars.contains(self)
  }
}
