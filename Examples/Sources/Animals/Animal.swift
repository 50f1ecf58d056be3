/// An animal, and something true about it.
public struct Animal: Hashable, Codable, Sendable {
  /// What it is called.
  public let name: String
  /// Something true about it.
  public let fact: String

  /// Describes an animal.
  public init(name: String, fact: String) {
    self.name = name
    self.fact = fact
  }
}

/// Why there is no animal.
public enum AnimalFailure: Error, Hashable, Codable, Sendable {
  /// The service could not be reached, or not to the end.
  case network
  /// The service failed, and gave this reason, or none.
  case unknown(reason: String?)
}
