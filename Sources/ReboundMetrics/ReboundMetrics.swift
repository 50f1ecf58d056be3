#if Metrics
  import Metrics
  import Rebound
  import ReboundTelemetry
  import StreamSupport

  /// Hands measurements on to swift-metrics.
  ///
  ///     let metrics = SwiftMetricsSink()
  ///     events.report(to: metrics).store(in: &subscriptions)
  ///     let client = WebAPIClient(baseURL: service, transport: transport).reporting(to: metrics)
  ///     …
  ///     metrics.set(events.gauges)   // whenever the program reads its gauges
  ///
  /// A counter is a `Counter`, a gauge a `Meter`. A histogram whose name ends in `_seconds` is a `Timer`, for which a metrics
  /// system has buckets that fit durations, and any other one an aggregating `Recorder`. Labels are dimensions. Each is made
  /// once for its name and labels and kept, up to a limit, so that a label with too many values, which is a mistake, costs no
  /// more memory than that; what belongs to a series beyond it is dropped and counted in ``refused``. So is what a metrics
  /// system may end the process for: a count that goes backwards, a measurement that is no number, a name of another kind.
  ///
  /// - Complexity: O(labels) for each measurement.
  public final class SwiftMetricsSink: MetricsSink {
    private struct Handlers {
      var rules: SeriesRules
      var counters: [Metric: Counter] = [:]
      var timers: [Metric: Metrics.Timer] = [:]
      var recorders: [Metric: Recorder] = [:]
      var meters: [Metric: Meter] = [:]
      var refused = 0

      var count: Int { counters.count + timers.count + recorders.count + meters.count }
    }

    private let factory: any MetricsFactory
    private let handlers: Locked<Handlers>

    /// Makes a sink without series.
    ///
    /// - Parameters:
    ///   - factory: Makes the handlers; the program's own, which has to be bootstrapped before.
    ///   - limit: How many series there may be.
    public init(factory: any MetricsFactory = MetricsSystem.factory, limit: Int = 10_000) {
      self.factory = factory
      handlers = Locked(Handlers(rules: SeriesRules(limit: limit)))
    }

    /// How many measurements had no place: those of series beyond the limit, those that are no number or count backwards,
    /// and those of a name that was first used for another kind.
    public var refused: Int { handlers.withLock { $0.refused } }

    /// Counts what has happened.
    public func add(_ count: Int, to counter: Metric) {
      guard count >= 0 else { return refuse() }
      handler(of: counter, .counter, in: \.counters) { Counter(label: $0, dimensions: $1, factory: factory) }?
        .increment(by: count)
    }

    /// Adds a measurement to a distribution; durations are in seconds.
    public func record(_ value: Double, in histogram: Metric) {
      guard value.isFinite else { return refuse() }
      if histogram.name.hasSuffix("_seconds") {
        handler(of: histogram, .histogram, in: \.timers) {
          Metrics.Timer(label: $0, dimensions: $1, factory: factory)
        }?
        .recordNanoseconds(Int64(exactly: (value * 1e9).rounded()) ?? (value < 0 ? .min : .max))
      } else {
        handler(of: histogram, .histogram, in: \.recorders) {
          Recorder(label: $0, dimensions: $1, aggregate: true, factory: factory)
        }?
        .record(value)
      }
    }

    /// Sets the meters of what shared objects hold, with the label `source` and those of the measurement.
    ///
    /// The meter of an object that is gone keeps its last value, as long as the metrics system does.
    ///
    /// - Parameter gauges: What was read just now: `PolicyEvents.gauges`.
    public func set(_ gauges: [PolicyGauge]) {
      for gauge in gauges {
        for measurement in gauge.reading.measurements {
          guard measurement.value.isFinite else {
            refuse()
            continue
          }
          let metric = Metric(measurement.name, labels: [.init("source", gauge.name)] + measurement.labels)
          handler(of: metric, .gauge, in: \.meters) { Meter(label: $0, dimensions: $1, factory: factory) }?
            .set(measurement.value)
        }
      }
    }

    private func refuse() { handlers.withLock { $0.refused += 1 } }

    /// - Returns: What was made for the series before, or now; `nil` if there is no room for it.
    private func handler<Handler: Sendable>(
      of metric: Metric,
      _ kind: MetricsTable.Kind,
      in table: WritableKeyPath<Handlers, [Metric: Handler]> & Sendable,
      make: (String, [(String, String)]) -> Handler
    ) -> Handler? {
      if let known = handlers.withLock({ $0[keyPath: table][metric] }) { return known }
      // Made with the lock open, since the factory is somebody else's: the first of two threads wins, and the other
      // handler of the same labels is the same series.
      let hasRoom = handlers.withLock { handlers in
        let hasRoom = handlers.rules.haveRoom(for: metric, kind, beside: handlers.count)
        if !hasRoom { handlers.refused += 1 }
        return hasRoom
      }
      guard hasRoom else { return nil }
      let new = make(metric.name, metric.labels.map { ($0.name, $0.value) })
      return handlers.withLock { handlers in
        if let known = handlers[keyPath: table][metric] { return known }
        handlers[keyPath: table][metric] = new
        return new
      }
    }
  }
#endif
