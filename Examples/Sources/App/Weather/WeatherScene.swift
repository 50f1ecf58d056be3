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
  let recorder: RunRecorder
  private let model: WeatherViewModel<DispatchQueue>
  private let log: AttemptLog<DispatchQueue>
  private var changes: Set<AnyCancellable> = []

  private static let cities = ["Hamburg", "Lisbon", "Nairobi", "New York", "São Paulo", "Tokyo"]
  private static let apiKey = "rebound"

  init(services: Services, metrics: ClientMetrics, queue: DispatchQueue, changed: @escaping () -> Void) {
    self.metrics = metrics
    let log = AttemptLog(scheduler: queue, source: Tab.weather.rawValue, events: metrics.events, lines: metrics.lines)
    self.log = log
    let recorder = RunRecorder(lines: metrics.lines, prerequisite: "AccessToken")
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
  var runs: [RecordedRun] { log.runs }

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

  func inSwift(_ run: RecordedRun, _ exchanges: RunRecorder.Exchanges) -> RequestInSwift? {
    RequestInSwift(weather: run.request, key: Self.apiKey)
  }

  private func choose(_ button: String, on press: Press) {
    if press.surface == "toast" {
      if let id = Int(press.id) { model.dismissNotice(id) }
    } else if press.id == WeatherScreen.problemID {
      button == "retry" ? model.retry() : model.dismiss()
    }
  }
}

extension RequestInSwift {
  /// A request for the weather.
  ///
  /// - Parameters:
  ///   - request: As it was written down: "GET /weather?city=Oslo".
  ///   - key: The API key that the app begins with, which is no secret.
  init?(weather request: String, key: String) {
    guard let place = Self.place(of: request) else { return nil }
    name = "weather \(place.name)"
    module = "Weather"
    service = "WeatherService(baseURL: recorded.baseURL, key: \(key.debugDescription), transport: recorded.transport)"
    call = "weather(at: \(place.code))"
    policy = "RetryPolicy.weather()"
  }

  /// Where the weather was asked for, in words and in Swift.
  private static func place(of request: String) -> (name: String, code: String)? {
    let values = query(of: request)
    // What somebody typed may be longer than the name of a file.
    if let city = values["city"] { return ("of \(city.prefix(40))", ".city(\(city.debugDescription))") }
    guard let latitude = values["latitude"].flatMap(Double.init),
      let longitude = values["longitude"].flatMap(Double.init)
    else { return nil }
    return ("at \(latitude), \(longitude)", ".position(latitude: \(latitude), longitude: \(longitude))")
  }
}
