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
  /// A counter is a `Counter`, a histogram an aggregating `Recorder`, a gauge a `Meter`; labels are dimensions, and durations
  /// are in seconds. Each is made once for its name and labels and kept, up to a limit, so that a label with too many values,
  /// which is a mistake, costs no more memory than that; what belongs to a series beyond it is dropped and counted in
  /// ``refused``.
  ///
  /// - Complexity: O(labels) for each measurement.
  public final class SwiftMetricsSink: MetricsSink {
    private struct Handlers {
      var counters: [Metric: Counter] = [:]
      var recorders: [Metric: Recorder] = [:]
      var meters: [Metric: Meter] = [:]
      var refused = 0

      var count: Int { counters.count + recorders.count + meters.count }
    }

    private let factory: any MetricsFactory
    private let limit: Int
    private let handlers = Locked(Handlers())

    /// Makes a sink without series.
    ///
    /// - Parameters:
    ///   - factory: Makes the handlers; the program's own, which has to be bootstrapped before.
    ///   - limit: How many series there may be.
    public init(factory: any MetricsFactory = MetricsSystem.factory, limit: Int = 10_000) {
      self.factory = factory
      self.limit = max(limit, 1)
    }

    /// How many measurements had no place, since their series was beyond the limit.
    public var refused: Int { handlers.withLock { $0.refused } }

    /// Counts what has happened.
    public func add(_ count: Int, to counter: Metric) {
      handler(of: counter, in: \.counters) { Counter(label: $0, dimensions: $1, factory: factory) }?
        .increment(by: count)
    }

    /// Adds a measurement to a distribution; durations are in seconds.
    public func record(_ value: Double, in histogram: Metric) {
      handler(of: histogram, in: \.recorders) {
        Recorder(label: $0, dimensions: $1, aggregate: true, factory: factory)
      }?
      .record(value)
    }

    /// Sets the meters of what shared objects hold, with the label `source` and those of the measurement.
    ///
    /// The meter of an object that is gone keeps its last value, as long as the metrics system does.
    ///
    /// - Parameter gauges: What was read just now: ``PolicyEvents/gauges``.
    public func set(_ gauges: [PolicyGauge]) {
      for gauge in gauges {
        for measurement in gauge.reading.measurements {
          let metric = Metric(measurement.name, labels: [.init("source", gauge.name)] + measurement.labels)
          handler(of: metric, in: \.meters) { Meter(label: $0, dimensions: $1, factory: factory) }?
            .set(measurement.value)
        }
      }
    }

    /// - Returns: What was made for the series before, or now; `nil` beyond the limit.
    private func handler<Handler: Sendable>(
      of metric: Metric,
      in kind: WritableKeyPath<Handlers, [Metric: Handler]> & Sendable,
      make: (String, [(String, String)]) -> Handler
    ) -> Handler? {
      if let known = handlers.withLock({ $0[keyPath: kind][metric] }) { return known }
      // Made with the lock open, since the factory is somebody else's: the first of two threads wins, and the other
      // handler of the same labels is the same series.
      let isBeyond = handlers.withLock { handlers in
        let isBeyond = handlers.count >= limit
        if isBeyond { handlers.refused += 1 }
        return isBeyond
      }
      if isBeyond { return nil }
      let new = make(metric.name, metric.labels.map { ($0.name, $0.value) })
      return handlers.withLock { handlers in
        if let known = handlers[keyPath: kind][metric] { return known }
        handlers[keyPath: kind][metric] = new
        return new
      }
    }
  }
#endif
