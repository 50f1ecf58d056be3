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
/// Lengths count Characters, as people do. Nothing is trimmed: a name that begins with a space is another name.
/// Reserved names and taken ones count in any spelling (`Admin`, `PAGE`), as accounts do; names that are commands count
/// as written.
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
    guard name.count > 3 else { return .refused(reason: "Username is too short.") }
    guard !name.allSatisfy(\.isWhitespace) else { return .refused(reason: "Username must not be blank") }
    let key = caselessKey(of: name)
    guard !reserved.contains(key) else { return .refused(reason: "Username is not valid: \(name).") }
    if taken.contains(key) { return .taken }
    switch name {
    case "illegalresponse": return .malformedAnswer
    case "servererror": return .permanentFailure
    case "maintenance": return .maintenance(isPermanent: false)
    case "maintenance!": return .maintenance(isPermanent: true)
    default: return .acceptable
    }
  }

  /// The form in which two spellings of one name are the same: without case, and composed (NFC).
  ///
  /// Upper case comes first so that `ß` meets `ss` and `ς` meets `σ`, as in Unicode's full case folding.
  static func caselessKey(of name: String) -> String {
    name.precomposedStringWithCanonicalMapping.uppercased().lowercased().precomposedStringWithCanonicalMapping
  }

  private static let reserved: Set = ["admin", "superuser"]
  private static let taken: Set = ["peterfriese", "johnnyappleseed", "page", "johndoe"]
}
