/// The rules for passwords.
enum PasswordRules {
  static let minimumCharacters = 8
  /// Hashing takes time in proportion, so there is an end to it.
  static let maximumBytes = 1024

  /// The reason why a password can't be used, or nil if it can.
  static func objection(to password: String) -> String? {
    if password.count < minimumCharacters { return "Password must have at least \(minimumCharacters) characters" }
    if password.utf8.count > maximumBytes { return "Password must not be longer than \(maximumBytes) bytes" }
    return nil
  }
}
