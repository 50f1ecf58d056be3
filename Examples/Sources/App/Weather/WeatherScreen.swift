import Attempts
import Combine
import ReboundPresentation
import Weather

/// What the page draws of the weather.
struct WeatherScreen: Encodable {
  struct PlaceView: Encodable {
    let city: String
    let country: String
    let temperature: Double
    let humidity: Int
    let condition: String
    let source: String
    let note: String
  }

  struct KeyView: Encodable {
    let message: String
    let tone: String
    let isChecking: Bool
  }

  struct CityView: Encodable {
    let id: String
    let temperature: Double?
    let note: String
    let tone: String

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(temperature, forKey: .temperature)
      try container.encode(note, forKey: .note)
      try container.encode(tone, forKey: .tone)
    }

    private enum CodingKeys: CodingKey {
      case id, temperature, note, tone
    }
  }

  /// There is one problem at a time.
  static let problemID = "problem"

  let query: String
  let message: String
  let tone: String
  let isLoading: Bool
  let canSearch: Bool
  let place: PlaceView?
  let status: String
  let announcement: String
  let key: KeyView?
  let cities: [CityView]
  let isRefreshing: Bool
  let surfaces: Surfaces

  /// Writes down nothing where there is nothing: every key is always there.
  func encode(to encoder: any Encoder) throws {
    try surfaces.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(query, forKey: .query)
    try container.encode(message, forKey: .message)
    try container.encode(tone, forKey: .tone)
    try container.encode(isLoading, forKey: .isLoading)
    try container.encode(canSearch, forKey: .canSearch)
    try container.encode(place, forKey: .place)
    try container.encode(status, forKey: .status)
    try container.encode(announcement, forKey: .announcement)
    try container.encode(key, forKey: .key)
    try container.encode(cities, forKey: .cities)
    try container.encode(isRefreshing, forKey: .isRefreshing)
  }

  private enum CodingKeys: CodingKey {
    case query, message, tone, isLoading, canSearch, place, status, announcement, key, cities, isRefreshing
  }
}

extension WeatherScreen {
  init<Context: Scheduler>(_ model: WeatherViewModel<Context>, attempts: [Attempt]) {
    query = model.query
    message = model.cityMessage
    tone = model.cityMessage.isEmpty ? "none" : "error"
    isLoading = model.isLoading
    canSearch = model.canSearch
    place = model.shown.map { PlaceView($0) }
    status = model.status
    announcement = model.announcement
    if case .signIn(let message)? = model.problem?.presentation {
      key = KeyView(
        message: message.sentences,
        tone: "error",
        isChecking: model.problem?.isRetrying ?? false
      )
    } else {
      key = nil
    }
    cities = model.cities.map { CityView($0) }
    isRefreshing = model.isRefreshing
    surfaces = Surfaces(model, attempts: attempts)
  }
}

extension WeatherScreen.PlaceView {
  fileprivate init<Context: Scheduler>(_ shown: WeatherViewModel<Context>.Shown) {
    self.init(
      city: shown.weather.city,
      country: shown.weather.country,
      temperature: shown.weather.temperature,
      humidity: shown.weather.humidity,
      condition: shown.weather.condition,
      source: shown.age == nil ? "live" : "saved",
      note: shown.age.map(savedCopy) ?? ""
    )
  }
}

extension WeatherScreen.CityView {
  fileprivate init<Context: Scheduler>(_ city: WeatherViewModel<Context>.City) {
    self.init(
      id: city.name,
      temperature: city.weather?.temperature,
      note: city.isLoading ? "loading…" : city.age.map(savedCopy) ?? city.failure ?? "",
      tone: city.isLoading ? "none" : city.age != nil ? "warn" : city.failure != nil ? "error" : "none"
    )
  }
}

extension Surfaces {
  fileprivate init<Context: Scheduler>(_ model: WeatherViewModel<Context>, attempts: [Attempt]) {
    self.attempts = attempts.map(AttemptView.init)
    toast = model.notice.map { ToastView(id: String($0.id), text: $0.text, tone: "info") }
    guard let problem = model.problem, let message = problem.presentation.message else { return }
    let buttons = message.choices.map {
      ButtonView(id: $0.id, title: $0.title, role: $0.role == .cancel ? "cancel" : "default")
    }
    let text = message.sentences
    switch problem.presentation {
    case .fullScreen where model.shown == nil:
      fullScreen = FullScreenView(
        id: WeatherScreen.problemID,
        title: message.title,
        message: text,
        secondsLeft: problem.secondsLeft,
        isRetrying: problem.isRetrying,
        buttons: buttons + [ButtonView(id: "back", title: "Back", role: "cancel")]
      )
    case .fullScreen, .banner, .toast:
      // A saved copy stays in sight; what is wrong stands above it for as long as it is.
      banner = BannerView(id: WeatherScreen.problemID, text: text, buttons: buttons)
    case .alert:
      alert = AlertView(id: WeatherScreen.problemID, title: message.title, message: text, buttons: buttons)
    case .ignore, .inline, .signIn:
      break
    }
  }
}

extension Presentation.Message {
  /// What happened and what to do about it, each with its full stop.
  fileprivate var sentences: String {
    [text, suggestion].compactMap { $0 }.map { $0.hasSuffix(".") ? $0 : "\($0)." }.joined(separator: " ")
  }
}

private func savedCopy(_ age: Duration) -> String {
  let minutes = age.components.seconds / 60
  return minutes == 1 ? "saved copy, 1 minute old" : "saved copy, \(minutes) minutes old"
}
