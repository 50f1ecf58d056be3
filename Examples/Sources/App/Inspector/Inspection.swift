import Combine
import Dispatch
import Foundation
import Rebound
import WebServer

/// What the inspector of a page gets while it is open: the lines of all its apps, and what their policies hold.
///
/// Unchecked: everything but the constants is touched on `queue` only.
final class Inspection: @unchecked Sendable {
  private let queue: DispatchQueue
  private let timer: any ServerTimer
  private let apps: [(app: Tab, metrics: ClientMetrics)]
  private let send: (String) -> Void

  private var readings: [AnyCancellable] = []
  private var unsent: [String] = []
  /// The gauges as they were told last.
  private var told: Set<String> = []
  /// Counts the times of reading; what belongs to another one is over.
  private var round = 0

  /// Whether the person wants to see it.
  var isOpen = false { didSet { adjust() } }
  /// Whether there is a page to send it to.
  var hasPage = false { didSet { adjust() } }

  /// How many lines wait for the page at most.
  private static let limit = 500
  /// How often gauges are read that other pages may have changed.
  private static let pause = Duration.seconds(1)

  /// Makes one that is closed.
  ///
  /// - Parameters:
  ///   - queue: That of the session.
  ///   - timer: Says when gauges are read again.
  ///   - apps: What the page's apps do.
  ///   - send: Sends lines to the page, called on the queue.
  init(
    queue: DispatchQueue,
    timer: any ServerTimer,
    apps: [(app: Tab, metrics: ClientMetrics)],
    send: @escaping (String) -> Void
  ) {
    self.queue = queue
    self.timer = timer
    self.apps = apps
    self.send = send
  }

  private func adjust() {
    guard (isOpen && hasPage) != !readings.isEmpty else { return }
    round += 1
    guard readings.isEmpty else {
      (readings, unsent, told) = ([], [], [])
      return
    }
    let time = TimeSource(queue)
    readings = apps.map { app in
      app.metrics.lines.read(keeping: Self.limit, on: time) { [weak self] in self?.keep($0) }
    }
    for (app, metrics) in apps {
      metrics.lines.write(
        "pipeline",
        [EventField("stages", app.stages.map { EventField($0.key, $0.value) })]
      )
    }
    watchGauges(round)
  }

  private func keep(_ line: String) {
    guard !readings.isEmpty else { return }
    unsent.append(line)
    guard unsent.count == 1 else { return }
    // What comes in the same turn goes together.
    queue.async { [weak self] in self?.sendLines() }
  }

  private func sendLines() {
    guard !unsent.isEmpty else { return }
    let lines = unsent.joined(separator: "\n")
    unsent = []
    send(lines)
    tellGauges()
  }

  private func watchGauges(_ round: Int) {
    guard round == self.round else { return }
    tellGauges()
    timer.run(after: Self.pause) { [weak self] in
      guard let self else { return }
      queue.async { self.watchGauges(round) }
    }
  }

  /// Tells what is not as it was told last.
  private func tellGauges() {
    for (_, metrics) in apps {
      let gauges = metrics.gauges
      metrics.lines.write(gauges.filter { !told.contains("\($0)") })
      for gauge in gauges {
        told = told.filter { !$0.hasPrefix("\(gauge.name): \(gauge.kind): ") }
        told.insert("\(gauge)")
      }
    }
  }
}

extension Tab {
  /// What a request of the app passes, from the outside in, by the word and by the name that people read.
  fileprivate var stages: KeyValuePairs<String, String> {
    switch self {
    case .signUp: ["retry": "Retry", "network": "Network"]
    case .weather:
      [
        "fallback": "Saved copy", "retry": "Retry", "authentication": "Access token", "rate_limiter": "Rate limit",
        "circuit_breaker": "Breaker", "network": "Network",
      ]
    case .animals: ["network": "Network"]
    }
  }
}
