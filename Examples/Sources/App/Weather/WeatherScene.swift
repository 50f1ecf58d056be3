import Attempts
import Combine
import Dispatch
import Foundation
import Rebound
import ReboundHTTP
import Weather

/// The weather behind its tab.
final class WeatherScene: Scene {
  let metrics: ClientMetrics
  private let model: WeatherViewModel<DispatchQueue>
  private let log: AttemptLog<DispatchQueue>
  private var changes: Set<AnyCancellable> = []

  private static let cities = ["Hamburg", "Lisbon", "Nairobi", "New York", "São Paulo", "Tokyo"]
  private static let apiKey = "rebound"

  init(services: Services, metrics: ClientMetrics, queue: DispatchQueue, changed: @escaping () -> Void) {
    self.metrics = metrics
    let log = AttemptLog(scheduler: queue, source: Tab.weather.rawValue, events: metrics.events)
    self.log = log
    let note = Confined { log.note("POST /token", "a new access token for all who wait") }
    let service = WeatherService(
      baseURL: services.backend,
      key: Self.apiKey,
      transport: services.transport,
      metrics: metrics.sink,
      events: metrics.events
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

  private func choose(_ button: String, on press: Press) {
    if press.surface == "toast" {
      if let id = Int(press.id) { model.dismissNotice(id) }
    } else if press.id == WeatherScreen.problemID {
      button == "retry" ? model.retry() : model.dismiss()
    }
  }
}
