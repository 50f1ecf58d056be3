import Attempts
import Combine
import Dispatch
import Foundation
import Rebound
import ReboundHTTP
import Weather
import WebServer

/// The weather behind its tab.
final class WeatherScene: Scene {
  let metrics: ClientMetrics
  private let model: WeatherViewModel<DispatchQueue>
  private let log: AttemptLog<DispatchQueue>
  private let recorder: WeatherRecorder
  private var changes: Set<AnyCancellable> = []

  private static let cities = ["Hamburg", "Lisbon", "Nairobi", "New York", "São Paulo", "Tokyo"]
  private static let apiKey = "rebound"

  init(services: Services, metrics: ClientMetrics, queue: DispatchQueue, changed: @escaping () -> Void) {
    self.metrics = metrics
    let log = AttemptLog(scheduler: queue, source: Tab.weather.rawValue, events: metrics.events, lines: metrics.lines)
    self.log = log
    let recorder = WeatherRecorder(lines: metrics.lines)
    self.recorder = recorder
    let note = Confined { log.note("POST /token", "a new access token for all who wait") }
    let service = WeatherService(
      baseURL: services.backend,
      key: Self.apiKey,
      transport: services.transport,
      protection: services.weatherProtection,
      metrics: metrics.sink,
      events: metrics.events,
      lines: metrics.lines,
      onEvent: recorder.write
    ) {
      queue.async { note.value() }
    }
    model = WeatherViewModel(
      service: service,
      cities: Self.cities,
      saved: services.savedWeather,
      log: log,
      scheduler: queue,
      budget: services.weatherBudget
    )
    model.objectWillChange.sink { changed() }.store(in: &changes)
    log.objectWillChange.sink { changed() }.store(in: &changes)
  }

  var screen: any Encodable { WeatherScreen(model, attempts: log.attempts) }

  func perform(_ input: WeatherInput) {
    switch input {
    case .edit(let text): model.query = text
    case .search: model.search()
    case .located(let latitude, let longitude): model.search(latitude: latitude, longitude: longitude)
    case .notLocated(let isForbidden): model.notLocated(isForbidden: isForbidden)
    case .useKey(let key): model.use(key: key)
    case .refresh: model.refresh()
    case .press(let press): choose(press.button, on: press)
    }
  }

  /// The failure of a run as a test.
  ///
  /// - Parameters:
  ///   - id: The number of the run.
  ///   - calls: The ids of its calls.
  func test(ofRun id: Int, calls: Set<String>) throws -> SavedRun {
    guard let run = log.runs.last(where: { $0.id == id }) else {
      throw HTTPError(404, "There is no such request any more; the last 50 are kept.")
    }
    return try SavedRun(of: run, exchanges: recorder.exchanges(of: calls), calls: calls.count, key: Self.apiKey)
  }

  private func choose(_ button: String, on press: Press) {
    if press.surface == "toast" {
      if let id = Int(press.id) { model.dismissNotice(id) }
    } else if press.id == WeatherScreen.problemID {
      button == "retry" ? model.retry() : model.dismiss()
    }
  }
}
