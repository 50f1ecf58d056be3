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

/// Where measurements go: a ``MetricsTable``, or the metrics system that a program has already.
///
///     struct Bridge: MetricsSink {
///       func add(_ count: Int, to counter: Metric) {
///         Counter(label: counter.name, dimensions: counter.labels.map { ($0.name, $0.value) }).increment(by: count)
///       }
///       func record(_ value: Double, in histogram: Metric) {
///         Recorder(label: histogram.name, dimensions: histogram.labels.map { ($0.name, $0.value) }).record(value)
///       }
///     }
///
/// Called on the threads of those who decide, several at a time, with no lock held.
public protocol MetricsSink: Sendable {
  /// Takes a few words on what a name stands for, for people who read it.
  ///
  /// They may come before the first measurement or after it, and again; unless told otherwise, they are left out.
  func describe(_ name: String, as text: String)
  /// Counts what has happened.
  func add(_ count: Int, to counter: Metric)
  /// Adds a measurement to a distribution; durations are in seconds.
  func record(_ value: Double, in histogram: Metric)
}

extension MetricsSink {
  /// Leaves the words out.
  public func describe(_ name: String, as text: String) {}
}
