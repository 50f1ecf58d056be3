import Foundation

/// A policy with a setting that makes no sense, refused when it is made.
public struct InvalidPolicy: Error, Hashable, Sendable {
  /// The kind of the policy.
  public let kind: PolicyKind
  /// The name of the setting as it is written in code: "maxRetries", "slowness.duration".
  public let setting: String
  /// What it was to be: "-1".
  public let value: String
  /// What to give instead, in whole sentences.
  public let advice: String

  /// Describes a setting that makes no sense.
  ///
  /// - Parameters:
  ///   - kind: The kind of the policy.
  ///   - setting: The name of the setting.
  ///   - value: What it was to be.
  ///   - advice: What to give instead, in whole sentences.
  public init(_ kind: PolicyKind, _ setting: String, _ value: some Sendable, _ advice: String) {
    self.kind = kind
    self.setting = setting
    self.value = "\(value)"
    self.advice = advice
  }
}

extension InvalidPolicy: CustomStringConvertible {
  /// What is wrong, and what to give instead: "Retry: maxRetries is -1. Give 0 for no retry, or nil to retry for ever."
  public var description: String {
    let kind = kind.description
    return "\(kind.prefix(1).uppercased())\(kind.dropFirst()): \(setting) is \(value). \(advice)"
  }
}

extension InvalidPolicy: LocalizedError {
  /// What is wrong, and what to give instead.
  public var errorDescription: String? { description }
}

extension PolicyKind {
  /// Refuses a setting that makes no sense: for policies of one's own, too.
  ///
  ///     try PolicyKind.throttle.require("limit", limit, "Give at least 1.") { $0 >= 1 }
  ///
  /// - Parameters:
  ///   - setting: Its name.
  ///   - value: What it is to be; `nil`, which stands for none, is never refused.
  ///   - advice: What to give instead, in whole sentences.
  ///   - isValid: Whether it makes sense.
  /// - Throws: ``InvalidPolicy`` if it does not.
  public func require<Value: Sendable>(
    _ setting: String,
    _ value: Value?,
    _ advice: @autoclosure () -> String,
    _ isValid: (Value) -> Bool
  ) throws(InvalidPolicy) {
    if let value, !isValid(value) { throw InvalidPolicy(self, setting, value, advice()) }
  }
}

/// Makes a policy of constants.
///
/// - Precondition: They make sense. A policy's defaults do, which is tested.
package func valid<Policy>(_ make: () throws(InvalidPolicy) -> Policy) -> Policy {
  do throws(InvalidPolicy) { return try make() } catch { preconditionFailure("\(error)") }
}
