import Combine
import Rebound

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
  private let shared: PolicyEvents
  private let reports: AnyCancellable

  /// Makes an empty one.
  ///
  /// - Parameters:
  ///   - program: Gets every measurement, too, and knows the policies that all pages share.
  ///   - changed: Called after each measurement, on the thread where it was made.
  init(program: ProgramMetrics, changed: @escaping @Sendable () -> Void) {
    sink = Sink(program: program.table, changed: changed)
    shared = program.shared
    reports = events.report(to: sink)
  }

  /// What the client did, in words and numbers.
  ///
  /// - Parameter app: Whose shared policies are told of.
  func totals(of app: Tab) -> ClientTotals {
    ClientTotals(sink.own.snapshot, gauges: shared.gauges.filter { $0.name == app.rawValue })
  }
}
