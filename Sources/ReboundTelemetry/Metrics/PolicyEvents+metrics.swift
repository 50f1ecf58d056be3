import Combine
import Rebound

extension PolicyEvents {
  /// Reports what is decided from now on, until the result is cancelled.
  ///
  /// - `rebound_decisions`, a counter with the labels `source`, `policy` and `decision`: "weather", "retry", "retrying".
  /// - `rebound_retry_delay_seconds`, a histogram with the labels `source` and `from` (what named the delay).
  /// - `rebound_retry_elapsed_seconds`, a histogram with the labels `source` and `reason`: how long executions took that
  ///   were given up.
  /// - `rebound_queue_wait_seconds`, a histogram with the label `source`: what a rate limiter lets calls wait.
  /// - `rebound_pipeline_duration_seconds`, a histogram with the labels `source`, `part` and `outcome` ("succeeded",
  ///   "failed", "cancelled"): how long executions took, where a pipeline has a `Stopwatch`.
  /// - What decisions of one's own measure, in histograms with the label `source`: see `PolicyDecision.measurements`.
  ///
  /// What an event is revised to by the stream does not matter here; one that is left out is not counted.
  ///
  /// - Parameter sink: Gets the measurements, on the threads of those who decide.
  public func report(to sink: some MetricsSink) -> AnyCancellable {
    sink.describe("rebound_decisions", as: "Decisions of policies.")
    // Events come one at a time, so this is read and written by one thread after the other.
    var described: Set<String> = []
    return self.sink { event in
      let source = Metric.Label("source", event.source)
      sink.add(
        1,
        to: Metric(
          "rebound_decisions",
          source,
          .init("policy", event.kind.word),
          .init("decision", event.decision.word)
        )
      )
      for measurement in event.decision.measurements {
        if let meaning = measurement.meaning, described.insert(measurement.name).inserted {
          sink.describe(measurement.name, as: meaning)
        }
        sink.record(measurement.value, in: Metric(measurement.name, labels: [source] + measurement.labels))
      }
    }
  }
}
