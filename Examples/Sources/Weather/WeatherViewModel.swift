import Attempts
import Combine
import Foundation
import Rebound
import ReboundPresentation

/// The weather of one place and of a few cities: what is done goes in, what a person sees comes out.
///
/// All of it happens on one scheduler, which stands for the main queue: call from there, and read there. Tests give it
/// virtual time.
public final class WeatherViewModel<Context: Scheduler>: ObservableObject {
  /// A city of the list.
  public struct City: Equatable {
    /// Its name.
    public let name: String
    /// Its weather, new or saved.
    public internal(set) var weather: Weather?
    /// Whether the weather is being asked for.
    public internal(set) var isLoading = false
    /// How old the weather is, if it was saved.
    public internal(set) var age: Duration?
    /// What went wrong at last.
    public internal(set) var failure: String?

    /// Whether there is no weather, or only a copy, because something went wrong.
    fileprivate var isMissing: Bool { failure != nil }
  }

  /// Weather that is shown, and how old it is if it was saved.
  public struct Shown: Equatable {
    /// The weather.
    public let weather: Weather
    /// How old it is; `nil` if it has just come.
    public let age: Duration?
  }

  // MARK: What is typed and seen

  /// The name of a city.
  @Published public var query = "" {
    didSet { if query != oldValue { cityMessage = "" } }
  }
  /// What stands beneath the name.
  @Published public private(set) var cityMessage = ""
  /// The weather of the place that was asked for last.
  @Published public private(set) var shown: Shown?
  /// What goes on, in words: "Retrying in 3 s".
  @Published public private(set) var status = ""
  /// The same for who listens: told once for each wait and once at the try, not each second.
  @Published public private(set) var announcement = ""
  /// What stands in the way, on the surface on which it belongs.
  @Published public private(set) var problem: RecoverableRequest<Weather>.Problem?
  /// Whether the weather is being asked for.
  @Published public private(set) var isLoading = false
  /// A message that goes by itself, or with a press.
  @Published public private(set) var notice: Notice?
  /// The cities of the list.
  @Published public private(set) var cities: [City]

  /// A message and its number.
  public struct Notice: Equatable {
    /// Tells it from all others.
    public let id: Int
    /// The message.
    public let text: String
  }

  // MARK: How it works

  private let service: any WeatherProviding
  private let scheduler: Context
  private let saved: LastGood<Place, Weather>
  private let log: AttemptLog<Context>
  private let policy: RetryPolicy<WeatherFailure>
  /// That of the scheduler.
  private let time: TimeSource

  private let network = CurrentValueSubject<Bool, Never>(true)
  private var request: RecoverableRequest<Weather>?
  private var watching: AnyCancellable?
  private var probing: AnyCancellable?
  private var countdown: AnyCancellable?
  /// Let what is shown grow older, if it was saved.
  private var ageing: AnyCancellable?
  private var refreshes: [String: AnyCancellable] = [:]
  private var agesOfCities: [String: AnyCancellable] = [:]
  private var noticeTimer: AnyCancellable?
  private var lastNotice = 0
  private var place: Place?
  /// Whether no answer has shown yet that the key is right.
  private var isKeyNew = false

  /// Makes an empty screen.
  ///
  /// - Parameters:
  ///   - service: Where the weather comes from.
  ///   - cities: The cities of the list.
  ///   - saved: Keeps the last good weather of each place.
  ///   - log: Writes down what is sent.
  ///   - scheduler: Where everything happens and by which it is timed; serial, like the main queue.
  ///   - delays: How long to wait before each retry after a failure of the service.
  ///   - budget: How many retries there may be, together with all who share it.
  public init(
    service: any WeatherProviding,
    cities: [String],
    saved: LastGood<Place, Weather>,
    log: AttemptLog<Context>,
    scheduler: Context,
    delays: Backoff = .steps(.seconds(1), .seconds(3), .seconds(5), .seconds(10)),
    budget: RetryBudget? = nil
  ) {
    self.service = service
    self.saved = saved
    self.log = log
    self.scheduler = scheduler
    time = TimeSource(scheduler)
    self.cities = cities.map { City(name: $0) }
    let policy = RetryPolicy.weather(after: delays)
    self.policy = budget.map(policy.within) ?? policy
  }

  /// Whether there is something to ask for.
  public var canSearch: Bool { !cityName.isEmpty }

  private var cityName: String { query.trimmingCharacters(in: .whitespaces) }

  // MARK: One place

  /// Asks for the weather in the city whose name was typed.
  public func search() {
    if canSearch { show(.city(cityName)) }
  }

  /// Asks for the weather around a point.
  public func search(latitude: Double, longitude: Double) {
    query = ""
    show(.position(latitude: latitude, longitude: longitude))
  }

  /// Says that the place of the person could not be found out.
  public func notLocated(isForbidden: Bool) {
    tell(
      isForbidden
        ? "This page may not know where you are. Allow it in the browser, or type a city."
        : "Where you are could not be found out. Type a city instead."
    )
  }

  /// Asks again, at once.
  public func retry() {
    stopCounting()
    request?.retry()
  }

  /// Uses another API key, and asks again.
  public func use(key: String) {
    service.use(key: key)
    isKeyNew = true
    retry()
  }

  /// Gives up what stands in the way.
  public func dismiss() {
    request?.cancel()
    say("")
    // The list may wait for the service, too.
    if !cities.contains(where: \.isMissing) { probing = nil }
  }

  private func show(_ place: Place) {
    if place != self.place { shown = nil }
    self.place = place
    cityMessage = ""
    let request = RecoverableRequest(
      answer(at: place, retrying: policy.onEvent(observer)),
      context: shown == nil ? .firstLoad : .refresh,
      network: network.dropFirst().eraseToAnyPublisher(),
      scheduler: scheduler
    )
    self.request = request
    watching = request.$state.sink { [weak self] in self?.follow($0, at: place) }
    request.load()
  }

  /// Asks once for each subscription, writes it down, and keeps the answer.
  private func answer(
    at place: Place,
    retrying policy: RetryPolicy<WeatherFailure>? = nil
  ) -> AnyPublisher<Weather, WeatherFailure> {
    log.writingDown(
      "GET /weather?\(place.query)",
      service.weather(at: place),
      retrying: policy,
      standingIn: { [saved, time] in saved.value(for: place, at: time.now) != nil },
      success: { "200 \($0.city), \($0.condition)" },
      failure: \.outcome
    )
    .remember(in: saved, for: place, time: time)
    .eraseToAnyPublisher()
  }

  private func follow(_ state: RecoverableRequest<Weather>.State, at place: Place) {
    isLoading = state.isLoading
    if !state.isLoading { stopCounting() }
    if let value = state.value, state.problem == nil {
      shown = Shown(weather: value, age: nil)
      ageing = nil
      if isKeyNew {
        isKeyNew = false
        refreshSaved()
      }
    }
    problem = state.problem
    guard let presentation = state.problem?.presentation else { return }
    if case .inline(let errors) = presentation {
      // Beside another name it would be wrong.
      if place.isWritten(cityName) { cityMessage = errors.first?.message ?? "" }
      shown = nil
    } else if let copy = saved.value(for: place, at: time.now) {
      shown = Shown(weather: copy.value, age: copy.age)
      ageing = growing(older: copy) { [weak self] age in
        guard let self, let shown, shown.age != nil else { return }
        self.shown = Shown(weather: shown.weather, age: age)
      }
    }
    if presentation.message?.topic == .offline, !state.isLoading { waitForService() }
  }

  /// Tells the age of a saved copy at each of its minutes.
  private func growing(older copy: LastGood<Place, Weather>.Saved, _ tell: @escaping (Duration) -> Void)
    -> AnyCancellable
  {
    let saved = time.now - copy.age
    let toNextMinute = 60_000 - Int(copy.age / .milliseconds(1)) % 60_000
    return AnyCancellable(
      scheduler.schedule(after: scheduler.now.advanced(by: .milliseconds(toNextMinute)), interval: .seconds(60)) {
        [time] in tell(time.now - saved)
      }
    )
  }

  private func waitForService() {
    guard probing == nil else { return }
    network.send(false)
    probing = service.untilReachable().receive(on: scheduler).sink(
      receiveCompletion: { [weak self] _ in
        self?.probing = nil
        self?.network.send(true)
        self?.refreshSaved()
      },
      receiveValue: { _ in }
    )
  }

  /// Counts the seconds to the next try; runs where the failure arrives, which is on this screen's own scheduler.
  private var observer: @Sendable (RetryEvent) -> Void {
    let count = Confined<(Duration, any Error) -> Void> { [weak self] in self?.count(down: $0, after: $1) }
    return { event in
      guard case .retrying = event.outcome, let delay = event.delay else { return }
      count.value(delay, event.error)
    }
  }

  private func count(down delay: Duration, after error: any Error) {
    let end = time.now + delay
    let words = error.localizedDescription.sentence
    let tell = { [weak self] (isFirst: Bool) in
      guard let self else { return }
      let left = end - time.now
      let seconds = Int(left.components.seconds) + (left.components.attoseconds > 0 ? 1 : 0)
      if seconds <= 0 {
        say("Retrying now")
      } else if isFirst {
        say("\(words) Retrying in \(seconds) s")
      } else {
        status = "\(words) Retrying in \(seconds) s"
      }
    }
    tell(true)
    countdown = AnyCancellable(
      scheduler.schedule(after: scheduler.now.advanced(by: .seconds(1)), interval: .seconds(1)) { tell(false) }
    )
  }

  /// Nothing is waited for any more.
  private func stopCounting() {
    say("")
    countdown = nil
  }

  /// Tells what goes on to who looks and to who listens.
  private func say(_ words: String) {
    status = words
    announcement = words
  }

  // MARK: The list

  /// Whether any city of the list is being asked for.
  public var isRefreshing: Bool { cities.contains(where: \.isLoading) }

  /// Asks for all cities of the list, at the same time.
  public func refresh() {
    for city in cities where !city.isLoading { refresh(city.name) }
  }

  /// Asks again for what is only there as a copy.
  private func refreshSaved() {
    for city in cities where city.isMissing && !city.isLoading { refresh(city.name) }
  }

  private func refresh(_ name: String) {
    change(name) { $0.isLoading = true }
    let place = Place.city(name)
    refreshes[name] = answer(at: place).asResult().sink { [weak self] result in
      guard let self else { return }
      let copy = saved.value(for: place, at: time.now)
      change(name) { city in
        city.isLoading = false
        switch result {
        case .success(let weather): (city.weather, city.age, city.failure) = (weather, nil, nil)
        case .failure(let failure):
          (city.weather, city.age, city.failure) = (copy?.value, copy?.age, failure.localizedDescription)
        }
      }
      agesOfCities[name] = nil
      guard case .failure(let failure) = result else { return }
      agesOfCities[name] = copy.map { copy in
        growing(older: copy) { [weak self] age in
          self?.change(name) { if $0.age != nil { $0.age = age } }
        }
      }
      if failure.isOffline { waitForService() }
    }
  }

  private func change(_ name: String, _ change: (inout City) -> Void) {
    guard let index = cities.firstIndex(where: { $0.name == name }) else { return }
    change(&cities[index])
  }

  // MARK: Notices

  /// Takes a notice away; one that is gone already stays gone.
  public func dismissNotice(_ id: Int) {
    if notice?.id == id { notice = nil }
  }

  private func tell(_ text: String) {
    lastNotice += 1
    notice = Notice(id: lastNotice, text: text)
    let id = lastNotice
    noticeTimer = Just(()).delay(for: .seconds(10), scheduler: scheduler).sink { [weak self] in
      self?.dismissNotice(id)
    }
  }
}

extension Place {
  /// Whether the field holds what this place was asked for with; around a point that is nothing.
  fileprivate func isWritten(_ name: String) -> Bool {
    switch self {
    case .city(let asked): asked == name
    case .position: name.isEmpty
    }
  }

  /// As it stands in the address of a request.
  var query: String {
    switch self {
    case .city(let name):
      let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
      return "city=\(name.addingPercentEncoding(withAllowedCharacters: plain) ?? name)"
    case .position(let latitude, let longitude): return "latitude=\(latitude)&longitude=\(longitude)"
    }
  }
}

extension String {
  /// With a full stop at its end.
  fileprivate var sentence: String { hasSuffix(".") ? self : "\(self)." }
}
