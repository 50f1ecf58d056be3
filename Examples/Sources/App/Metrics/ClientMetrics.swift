import Combine
import Rebound
import ReboundHTTP
import ReboundTelemetry

/// What the client of one app on one page has measured.
///
/// Used on its session's queue; its sink takes measurements on any thread.
final class ClientMetrics {
  /// Where the app's measurements go: into the app's own table, for the person, and into the program's, for a collector.
  struct Sink: MetricsSink {
    fileprivate let own = MetricsTable(seriesLimit: 200)
    fileprivate let program: MetricsTable
    fileprivate let changed: @Sendable () -> Void

    func describe(_ name: String, as text: String) { program.describe(name, as: text) }

    func add(_ count: Int, to counter: Metric) {
      own.add(count, to: counter)
      program.add(count, to: counter)
      changed()
    }

    func record(_ value: Double, in histogram: Metric) {
      own.record(value, in: histogram)
      program.record(value, in: histogram)
      changed()
    }
  }

  /// Takes the measurements.
  let sink: Sink
  /// Takes the decisions of the app's own policies.
  let events = PolicyEvents()
  /// What happens, for the inspector of the page; nobody reads it while that is closed.
  let lines: JSONLines
  /// Whose client it is.
  let app: Tab
  private let shared: PolicyEvents
  private let reports: AnyCancellable

  /// Makes an empty one.
  ///
  /// - Parameters:
  ///   - app: Whose client it is.
  ///   - program: Gets every measurement, too, and knows the policies that all pages share.
  ///   - changed: Called after each measurement, on the thread where it was made.
  init(app: Tab, program: ProgramMetrics, changed: @escaping @Sendable () -> Void) {
    sink = Sink(program: program.table, changed: changed)
    shared = program.shared
    reports = events.report(to: sink)
    self.app = app
    lines = JSONLines(saying: [EventField("app", app.rawValue)], hiding: Redaction.standard.line)
    lines.follow(events)
    if app == .weather { lines.follow(shared) }
  }

  /// What the client did, in words and numbers.
  var totals: ClientTotals { ClientTotals(sink.own.snapshot, gauges: gauges) }

  /// What the policies hold that all pages of this app share.
  var gauges: [PolicyGauge] { shared.gauges.filter { $0.name == app.rawValue } }
}
