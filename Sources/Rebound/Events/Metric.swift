/// What is measured: a name, and labels that each have few values.
///
/// A label holds the name of a pipeline or the kind of a failure, never an address, a key or a person: each different
/// combination is a series of its own, which the system that collects them keeps for ever.
public struct Metric: Hashable, Sendable {
  /// One label.
  public struct Label: Hashable, Sendable {
    /// What the value says: "source".
    public let name: String
    /// The value: "weather".
    public let value: String

    /// Makes a label.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Letters, digits and underscores, with the unit at the end where there is one: "rebound_retry_delay_seconds".
  public let name: String
  /// The labels; the same ones, in the same order, for all series of a name.
  public let labels: [Label]

  /// Names what is measured.
  ///
  /// - Parameters:
  ///   - name: Letters, digits and underscores, with the unit at the end where there is one.
  ///   - labels: The labels, in the order that all series of this name have.
  public init(_ name: String, _ labels: Label...) {
    self.init(name, labels: labels)
  }

  /// Names what is measured.
  public init(_ name: String, labels: [Label]) {
    self.name = name
    self.labels = labels
  }
}
