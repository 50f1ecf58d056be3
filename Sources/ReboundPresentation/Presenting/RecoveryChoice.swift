import Foundation

/// Something that a person can choose when an error is shown: a value, so that no screen is needed to test it.
public struct RecoveryChoice: Hashable, Sendable, Identifiable {
  /// What a choice means to the surface that offers it.
  public enum Role: String, Hashable, Sendable {
    /// One choice of several.
    case normal
    /// The way out that changes nothing.
    case cancel
    /// A choice that destroys something.
    case destructive
  }

  /// What was chosen.
  public let id: String
  /// The words on the button.
  public let title: String
  /// What it means.
  public let role: Role

  /// Describes a choice.
  public init(id: String, title: String, role: Role = .normal) {
    self.id = id
    self.title = title
    self.role = role
  }

  /// Try the same again.
  public static let retry = RecoveryChoice(id: "retry", title: "Try again")
  /// Leave it at that.
  public static let ok = RecoveryChoice(id: "ok", title: "OK", role: .cancel)
  /// Leave it for now.
  public static let later = RecoveryChoice(id: "later", title: "Not now", role: .cancel)
  /// Get the new version of the program.
  public static let upgrade = RecoveryChoice(id: "upgrade", title: "Upgrade")
  /// Sign in again.
  public static let signIn = RecoveryChoice(id: "sign-in", title: "Sign in")
}

// MARK: - RecoverableError

extension RecoveryChoice {
  private static let optionPrefix = "option-"

  /// The choices that a `RecoverableError` offers, in its order.
  public static func options(of error: any RecoverableError) -> [RecoveryChoice] {
    error.recoveryOptions.enumerated().map { RecoveryChoice(id: optionPrefix + "\($0.offset)", title: $0.element) }
  }

  /// The number of the option of a `RecoverableError`; `nil` for other choices.
  public var optionIndex: Int? {
    id.hasPrefix(Self.optionPrefix) ? Int(id.dropFirst(Self.optionPrefix.count)) : nil
  }

  /// Lets an error attempt the recovery that was chosen.
  ///
  /// - Returns: Whether it succeeded; `false` if this is not one of the error's options.
  public func attemptRecovery(from error: any Error) -> Bool {
    guard let error = error as? any RecoverableError, let optionIndex,
      error.recoveryOptions.indices.contains(optionIndex)
    else { return false }
    return error.attemptRecovery(optionIndex: optionIndex)
  }
}
