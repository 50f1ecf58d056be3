import Rebound
import StreamSupport

/// Counters, histograms and gauges in memory, for a page that a collector reads, and for tests.
///
///     let metrics = MetricsTable()
///     events.report(to: metrics).store(in: &subscriptions)
///     metrics.describe("app_pages_open", as: "Pages that are open now.")
///     try metrics.watch(Metric("app_pages_open")) { [weak pages] in pages.map { Double($0.count) } }
///     …
///     respond(metrics.openMetrics(gauges: events.gauges), type: MetricsTable.openMetricsType)
///
/// It has a limit for the number of series, so that a label with too many values, which is a mistake, costs no more
/// memory than that; what belongs to a series beyond it is counted in ``Snapshot/refused``.
public final class MetricsTable: MetricsSink {
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

    /// Whether measurements may be below zero.
    var isSigned: Bool { (bounds.first ?? 0) < 0 }

    fileprivate init(bounds: [Double]) {
      self.bounds = bounds
      counts = Array(repeating: 0, count: bounds.count)
    }

    fileprivate mutating func record(_ value: Double) {
      count += 1
      sum += value
      if let bucket = bounds.firstIndex(where: { value <= $0 }) { counts[bucket] += 1 }
    }

    /// Adds what another one of the same table holds, which has the same buckets.
    mutating func add(_ other: Histogram) {
      count += other.count
      sum += other.sum
      counts = zip(counts, other.counts).map(+)
    }
  }

  /// All series at one moment.
  public struct Snapshot: Hashable, Sendable {
    /// What was counted.
    public fileprivate(set) var counters: [Metric: Int] = [:]
    /// What was measured.
    public fileprivate(set) var histograms: [Metric: Histogram] = [:]
    /// What was read just now from those who are watched; not a number where they said so.
    public fileprivate(set) var gauges: [Metric: Double] = [:]
    /// How many measurements had no place: those of series beyond the limit, those that are no number or count
    /// backwards, those of a histogram that are below zero where no bound is, and those of a name that was first used for
    /// another kind; and descriptions beyond the limit.
    public fileprivate(set) var refused = 0
  }

  /// In seconds, for durations: those that OpenTelemetry's semantic conventions advise for `http.client.request.duration`.
  public static let durationBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

  /// What a name is used for, as a page calls it.
  package enum Kind: String, Sendable {
    case counter, gauge, histogram
  }

  /// Who is asked for the value of a gauge.
  private final class Source: Sendable {
    let read: @Sendable () -> Double?

    init(read: @escaping @Sendable () -> Double?) {
      self.read = read
    }
  }

  private struct State {
    var rules: SeriesRules
    /// All but the gauges.
    var series = Snapshot()
    var sources: [Metric: Source] = [:]
    var texts: [String: String] = [:]

    mutating func hasRoom(for metric: Metric, _ kind: Kind) -> Bool {
      let count = series.counters.count + series.histograms.count + sources.count
      return rules.haveRoom(for: metric, kind, beside: count)
    }
  }

  /// What each histogram begins as.
  private let empty: Histogram
  private let state: Locked<State>

  /// Makes an empty table.
  ///
  /// - Parameters:
  ///   - bounds: The upper bounds of the buckets of all histograms.
  ///   - limit: How many series there may be.
  public init(bounds: [Double] = MetricsTable.durationBounds, seriesLimit limit: Int = 2_000) {
    empty = Histogram(bounds: Set(bounds.filter(\.isFinite)).sorted())
    state = Locked(State(rules: SeriesRules(limit: limit)))
  }

  /// Counts what has happened.
  ///
  /// - Complexity: O(1).
  public func add(_ count: Int, to counter: Metric) {
    state.withLock { state in
      guard count >= 0, state.series.counters[counter] != nil || state.hasRoom(for: counter, .counter) else {
        return state.series.refused += 1
      }
      state.series.counters[counter, default: 0].addClamped(count)
    }
  }

  /// Adds a measurement to a distribution.
  ///
  /// One below zero is refused, unless a bound is, too: a collector takes no sum that may go down.
  ///
  /// - Complexity: O(b) for b buckets.
  public func record(_ value: Double, in histogram: Metric) {
    state.withLock { state in
      guard value.isFinite, value >= 0 || empty.isSigned,
        state.series.histograms[histogram] != nil || state.hasRoom(for: histogram, .histogram)
      else {
        return state.series.refused += 1
      }
      state.series.histograms[histogram, default: empty].record(value)
    }
  }

  /// Reads a gauge from now on: a number that goes up and down, such as how many pages are open.
  ///
  /// Nothing is read until somebody wants the ``snapshot`` or the page, and then once for each, on that thread, with no lock
  /// held; several threads may read at the same time. A gauge of the same name and labels takes the place of the one before.
  ///
  /// - Parameters:
  ///   - gauge: A name of letters, digits and underscores, a letter first, and labels whose names are such, too.
  ///   - read: Reads the number; not a number (`.nan`) if there is none at the moment, `nil` if there will be none any
  ///     more, so that the gauge is dropped. What is watched should be held weakly, unless it lives as long as the table.
  /// - Throws: ``InvalidMetric``, and then the table is as it was.
  /// - Complexity: O(1).
  public func watch(_ gauge: Metric, reading read: @escaping @Sendable () -> Double?) throws(InvalidMetric) {
    try gauge.validateAsGauge()
    let source = Source(read: read)
    let replaced = try state.withLock { state throws(InvalidMetric) in
      if let kind = state.rules.kinds[gauge.name], kind != .gauge { throw .otherKind(gauge.name) }
      guard state.sources[gauge] != nil || state.hasRoom(for: gauge, .gauge) else {
        throw .tooManySeries(state.rules.limit)
      }
      return state.sources.updateValue(source, forKey: gauge)
    }
    // With the lock open, since it may be the last to hold foreign objects.
    withExtendedLifetime(replaced) {}
  }

  /// Says in a few words what a name stands for, which the page repeats; of several, the last ones count.
  ///
  /// - Complexity: O(1).
  public func describe(_ name: String, as text: String) {
    state.withLock { state in
      guard state.texts[name] != nil || state.texts.count < state.rules.limit else { return state.series.refused += 1 }
      state.texts[name] = text
    }
  }

  /// All series as they are now.
  public var snapshot: Snapshot {
    let sources = state.withLock { $0.sources }
    let readings = sources.mapValues { $0.read() }
    let (series, dropped) = state.withLock { state in
      // One that was put in its place meanwhile stays.
      let gone = readings.filter { $0.value == nil }.keys.filter { state.sources[$0] === sources[$0] }
      let dropped = gone.compactMap { state.sources.removeValue(forKey: $0) }
      // A name that nothing has any more is free again.
      let names = gone.isEmpty ? [] : Set(state.sources.keys.map(\.name))
      for metric in gone where !names.contains(metric.name) { state.rules.kinds[metric.name] = nil }
      return (state.series, dropped)
    }
    withExtendedLifetime(dropped) {}
    var snapshot = series
    snapshot.gauges = readings.compactMapValues { $0 }
    return snapshot
  }

  /// What was said about names.
  var descriptions: [String: String] { state.withLock { $0.texts } }
}
