import StreamSupport

/// Counters and histograms in memory, for a page that a collector reads, and for tests.
///
///     let metrics = MetricsTable()
///     events.report(to: metrics).store(in: &subscriptions)
///     …
///     respond(metrics.openMetrics(gauges: events.gauges), type: MetricsTable.openMetricsType)
///
/// It has a limit for the number of series, so that a label with too many values, which is a mistake, costs no more
/// memory than that; what belongs to a series beyond it is counted in ``Snapshot/refused``.
///
/// Unchecked, because the lock guards all that changes, and no foreign code runs under it.
public final class MetricsTable: MetricsSink, @unchecked Sendable {
  /// A distribution of measurements.
  public struct Histogram: Hashable, Sendable {
    /// The upper bounds of the buckets, each included, in growing order; what is above the last one is in ``count`` alone.
    public let bounds: [Double]
    /// How many measurements lie in each bucket, those of the smaller buckets not included.
    public fileprivate(set) var counts: [Int]
    /// How many measurements there are.
    public fileprivate(set) var count = 0
    /// Their sum.
    public fileprivate(set) var sum = 0.0

    fileprivate init(bounds: [Double]) {
      self.bounds = bounds
      counts = Array(repeating: 0, count: bounds.count)
    }

    fileprivate mutating func record(_ value: Double) {
      count += 1
      sum += value
      if let bucket = bounds.firstIndex(where: { value <= $0 }) { counts[bucket] += 1 }
    }
  }

  /// All series at one moment.
  public struct Snapshot: Hashable, Sendable {
    /// What was counted.
    public fileprivate(set) var counters: [Metric: Int] = [:]
    /// What was measured.
    public fileprivate(set) var histograms: [Metric: Histogram] = [:]
    /// How many measurements had no place: those of series beyond the limit, those that are no number or count
    /// backwards, and those of a name that was first used for the other kind.
    public fileprivate(set) var refused = 0
  }

  /// In seconds, for durations: those that OpenTelemetry's semantic conventions advise for `http.client.request.duration`.
  public static let durationBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

  private let bounds: [Double]
  private let limit: Int
  private let lock = Lock()
  private var state = Snapshot()
  /// Whether the series of a name are histograms.
  private var areHistograms: [String: Bool] = [:]

  /// Makes an empty table.
  ///
  /// - Parameters:
  ///   - bounds: The upper bounds of the buckets of all histograms.
  ///   - limit: How many series there may be.
  public init(bounds: [Double] = MetricsTable.durationBounds, seriesLimit limit: Int = 2_000) {
    self.bounds = Set(bounds.filter(\.isFinite)).sorted()
    self.limit = max(limit, 1)
  }

  /// Counts what has happened.
  ///
  /// - Complexity: O(1).
  public func add(_ count: Int, to counter: Metric) {
    lock.withLock {
      guard count >= 0, state.counters[counter] != nil || hasRoomLocked(for: counter, isHistogram: false) else {
        return state.refused += 1
      }
      let (sum, overflows) = state.counters[counter, default: 0].addingReportingOverflow(count)
      state.counters[counter] = overflows ? .max : sum
    }
  }

  /// Adds a measurement to a distribution.
  ///
  /// - Complexity: O(b) for b buckets.
  public func record(_ value: Double, in histogram: Metric) {
    lock.withLock {
      guard value.isFinite, state.histograms[histogram] != nil || hasRoomLocked(for: histogram, isHistogram: true)
      else {
        return state.refused += 1
      }
      state.histograms[histogram, default: Histogram(bounds: bounds)].record(value)
    }
  }

  /// All series as they are now.
  public var snapshot: Snapshot { lock.withLock { state } }

  private func hasRoomLocked(for metric: Metric, isHistogram: Bool) -> Bool {
    guard state.counters.count + state.histograms.count < limit else { return false }
    if let known = areHistograms[metric.name] { return known == isHistogram }
    areHistograms[metric.name] = isHistogram
    return true
  }
}
