import Foundation

/// What the service makes of a user name, before it looks into the accounts.
enum UserNameVerdict: Equatable {
  /// The name can't be used; the reason is for the person who typed it.
  case refused(reason: String)
  /// Somebody has had this name from the beginning.
  case taken
  /// A name that makes the service answer without the field that a client needs.
  case malformedAnswer
  /// A name at which the service fails for good.
  case permanentFailure
  /// A name at which the service fails for a while: always, or twice in every three requests.
  case maintenance(isPermanent: Bool)
  /// The name is fine, unless an account has it.
  case acceptable
}

/// The rules for user names, and the names that make the service fail on command.
///
/// Lengths count Characters, as people do; a name's end counts bytes as well, for a Character may have any number of marks, and
/// comparing names takes longer the more there are. What nobody can see is refused rather than trimmed: who typed it learns of
/// it. Reserved names and taken ones count in any spelling and in any letters that look the same (`Admin`, `PAGE`, a Cyrillic
/// `аdmin`), as accounts do; names that are commands count as written.
enum UserNameRules {
  /// Judges the values of the parameter `userName`, of which there should be one.
  static func judge(parameters: [String?]) -> UserNameVerdict {
    guard let parameter = parameters.first else { return .refused(reason: "Username parameter missing") }
    guard parameters.count == 1 else { return .refused(reason: "Username parameter must be given only once") }
    return judge(parameter ?? "")
  }

  /// Judges a name.
  static func judge(_ name: String) -> UserNameVerdict {
    guard !name.isEmpty else { return .refused(reason: "Username must not be empty") }
    guard name.utf8.count <= maximumBytes, name.count <= maximumCharacters else {
      return .refused(reason: "Username is too long.")
    }
    guard name.count > 3 else { return .refused(reason: "Username is too short.") }
    guard !name.allSatisfy(\.isWhitespace) else { return .refused(reason: "Username must not be blank") }
    guard !name.unicodeScalars.contains(where: isInvisible) else {
      return .refused(reason: "Username must not contain invisible characters")
    }
    guard name.first?.isWhitespace == false, name.last?.isWhitespace == false else {
      return .refused(reason: "Username must not begin or end with a space")
    }
    let keys = comparisonKeys(of: name)
    guard reserved.isDisjoint(with: keys) else { return .refused(reason: "Username is not valid: \(name).") }
    if !taken.isDisjoint(with: keys) { return .taken }
    switch name {
    case "illegalresponse": return .malformedAnswer
    case "servererror": return .permanentFailure
    case "maintenance": return .maintenance(isPermanent: false)
    case "maintenance!": return .maintenance(isPermanent: true)
    default: return .acceptable
    }
  }

  /// Two names that a person could take for each other have one of these in common.
  ///
  /// What letters look like depends on their case, and names are compared without it. So one key has the looks of the
  /// name in small letters, and one those in capitals: a Cyrillic `М` is an `M`, though `м` is no `m`. There `I` and `l` look
  /// the same, and so are one letter. One more has the small letters that the name as it is written looks like, where capitals
  /// of one script stand among small letters of another. Compatible forms (NFKC) are one in all of them, and so are runs of
  /// spaces; small letters are made of capitals, so that `ß` meets `ss` and `ς` meets `σ`, as in Unicode's full case folding.
  static func comparisonKeys(of name: String) -> Set<String> {
    let name = withSingleSpaces(name.precomposedStringWithCompatibilityMapping)
    let capitals = name.uppercased()
    return Set([capitals, capitals.lowercased(), looks(of: name).lowercased()].map { looks(of: $0).lowercased() })
  }

  /// The same for texts that look the same as they are written.
  private static func looks(of text: String) -> String {
    withoutHiddenDots(NameSkeleton.of(text) ?? text)
  }

  /// Drops dots above what has one anyway (`i̇`), or could have one (`ı̇`); the tables of confusables know only single characters
  /// (UTS 39, section 5.4, and the check for hidden overlays of ICU).
  private static func withoutHiddenDots(_ text: String) -> String {
    var seen = String.UnicodeScalarView()
    var hidesDot = false
    for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars where !hidesDot || scalar != "\u{307}" {
      seen.append(scalar)
      // A mark that is elsewhere leaves the place above free.
      let place = scalar.properties.canonicalCombiningClass
      if place == .notReordered || place == .above {
        hidesDot = scalar.properties.isSoftDotted || dotless.contains(scalar)
      }
    }
    return String(seen)
  }

  private static func withSingleSpaces(_ text: String) -> String {
    var single = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where scalar != " " || single.last != " " { single.append(scalar) }
    return String(single)
  }

  /// Controls, marks of direction, joiners, fillers, spaces of other widths and the like: what makes two names of one without
  /// being seen.
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate: true
    case .spaceSeparator: !spaces.contains(scalar)
    default: scalar.properties.isDefaultIgnorableCodePoint || blanks.contains(scalar)
    }
  }

  private static let maximumBytes = 256
  private static let maximumCharacters = 64
  private static let dotless: Set<Unicode.Scalar> = ["l", "ı", "ȷ"]
  // Those that a keyboard has.
  private static let spaces: Set<Unicode.Scalar> = [" ", "\u{A0}", "\u{3000}"]
  // Symbols, letters and marks by their categories: a pattern of no dots, a note without a head, and the like.
  private static let blanks: Set<Unicode.Scalar> = [
    "\u{2800}", "\u{2D7F}", "\u{1107F}", "\u{13441}", "\u{13442}", "\u{16FE4}", "\u{1D159}",
  ]
  private static let reserved = Set(["admin", "superuser"].flatMap(comparisonKeys))
  private static let taken = Set(["peterfriese", "johnnyappleseed", "page", "johndoe"].flatMap(comparisonKeys))
}
