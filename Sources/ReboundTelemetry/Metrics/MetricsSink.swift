import Rebound

/// Where measurements go: a ``MetricsTable``, or the metrics system that a program has already.
///
///     struct Bridge: MetricsSink {
///       func add(_ count: Int, to counter: Metric) {
///         Counter(label: counter.name, dimensions: counter.labels.map { ($0.name, $0.value) }).increment(by: count)
///       }
///       func record(_ value: Double, in histogram: Metric) {
///         let labels = histogram.labels.map { ($0.name, $0.value) }
///         if histogram.name.hasSuffix("_seconds") {
///           Timer(label: histogram.name, dimensions: labels).recordSeconds(value)
///         } else {
///           Recorder(label: histogram.name, dimensions: labels).record(value)
///         }
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
  /// Adds a measurement to a distribution; durations are in seconds, and the names of theirs end in `_seconds`.
  func record(_ value: Double, in histogram: Metric)
}

extension MetricsSink {
  /// Leaves the words out.
  public func describe(_ name: String, as text: String) {}
}
