import Attempts
import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundPresentation
import ReboundTelemetry
import ReboundTesting
import Testing

@testable import Weather

@Suite("WeatherViewModel")
struct WeatherViewModelTests {
  private let scheduler = TestScheduler()
  private let service = ScriptedWeather()
  private let saved: LastGood<Place, Weather>
  private let screen: WeatherViewModel<TestScheduler>
  private let metrics = MetricsTable()
  private let budget: RetryBudget
  private let reports: AnyCancellable

  init() throws {
    let scheduler = scheduler
    saved = try LastGood(capacity: 10)
    budget = try .bucket(tokens: 5, cost: 1)
    let events = PolicyEvents(time: scheduler.time)
    reports = events.report(to: metrics)
    screen = WeatherViewModel(
      service: service,
      cities: ["Oslo", "Rome"],
      saved: saved,
      log: AttemptLog(
        scheduler: scheduler,
        source: "weather",
        events: events,
        now: { Date(timeIntervalSince1970: 0) }
      ),
      scheduler: scheduler,
      budget: budget
    )
  }

  private func weather(_ city: String) -> Weather {
    Weather(city: city, country: "XX", temperature: 20, humidity: 50, condition: "clear")
  }

  private func search(_ city: String, _ answers: Result<Weather, WeatherFailure>...) {
    service.answers = answers
    screen.query = city
    screen.search()
    scheduler.advance()
  }

  @Test("the weather of a city comes, and is shown as new")
  func success() {
    search("Rome", .success(weather("Rome")))
    #expect(screen.shown == .init(weather: weather("Rome"), age: nil))
    #expect(screen.problem == nil)
    #expect(!screen.isLoading)
    #expect(service.asked == [.city("Rome")])
  }

  @Test("without a name nothing is asked", arguments: ["", "   "])
  func empty(name: String) {
    search(name)
    #expect(service.asked.isEmpty)
    #expect(!screen.canSearch)
  }

  @Test("an unknown city is told beside the field until it is typed anew, and is not retried")
  func unknownCity() {
    search("Atlantis", .failure(.unknownCity))
    #expect(screen.cityMessage == "City Name is invalid")
    #expect(service.asked.count == 1)
    screen.query = "Rome"
    #expect(screen.cityMessage == "")
  }

  @Test("an unknown city that is told late is no message beside another name")
  func unknownCityLate() {
    let answer = PassthroughSubject<Weather, WeatherFailure>()
    service.late = answer
    search("Atlantis")
    screen.query = "Hamburg"
    answer.send(completion: .failure(.unknownCity))
    scheduler.advance()
    #expect(screen.cityMessage == "")
    #expect(!screen.isLoading)
  }

  @Test("a point without a city is told beside the empty field")
  func unknownPosition() {
    service.answers = [.failure(.unknownCity)]
    screen.search(latitude: 0, longitude: 0)
    scheduler.advance()
    #expect(screen.cityMessage == "City Name is invalid")
  }

  @Test("a failing service is asked again after 1, 3, 5 and 10 seconds, each counted down, and then given up")
  func growingDelays() {
    let failures = Array(
      repeating: Result<Weather, WeatherFailure>.failure(.server(.init(.serverError(503)))),
      count: 5
    )
    service.answers = failures
    screen.query = "Rome"
    screen.search()
    scheduler.advance()
    for (index, seconds) in [1, 3, 5, 10].enumerated() {
      #expect(service.asked.count == index + 1)
      #expect(screen.status == "Server error. Retrying in \(seconds) s")
      scheduler.advance(by: .seconds(seconds - 1))
      #expect(screen.status == "Server error. Retrying in 1 s")
      scheduler.advance(by: .seconds(1))
      scheduler.advance()
    }
    #expect(service.asked.count == 5)
    #expect(screen.status == "")
    guard case .fullScreen(let message)? = screen.problem?.presentation else {
      Issue.record("there is no full screen: \(String(describing: screen.problem))")
      return
    }
    #expect(message.text == "Server error")
  }

  @Test("a countdown is told to who listens once for each wait and once at the try")
  func announcements() {
    var told: [String] = []
    let listening = screen.$announcement.removeDuplicates().sink { told.append($0) }
    search("Rome", .failure(.server(.init(.serverError(503)))), .failure(.server(.init(.serverError(503)))))
    scheduler.advance(by: .seconds(5))
    screen.dismiss()
    #expect(
      told == [
        "", "Server error. Retrying in 1 s", "Retrying now", "Server error. Retrying in 3 s", "Retrying now", "",
      ]
    )
    listening.cancel()
  }

  @Test("a try that a person asks for ends the countdown to the next one")
  func retryWhileCounting() {
    search("Rome", .failure(.server(.init(.serverError(503)))))
    scheduler.advance(by: .milliseconds(300))
    #expect(screen.status == "Server error. Retrying in 1 s")
    screen.retry()
    scheduler.advance()
    #expect(service.asked.count == 2)
    scheduler.advance(by: .seconds(5))
    #expect(screen.isLoading)
    #expect(screen.status == "")
    #expect(screen.announcement == "")
  }

  @Test("words that end with a full stop get no second one")
  func fullStop() {
    search("Rome", .failure(.refused(.init(.clientError(408), server: ServerMessage(text: "Too slow.")))))
    #expect(screen.status.hasSuffix(". Retrying in 1 s"))
    #expect(!screen.status.contains(".."))
  }

  @Test("a failure after the retries shows the last good weather as a saved copy")
  func savedCopy() {
    search("Rome", .success(weather("Rome")))
    scheduler.advance(by: .seconds(180))
    search("Rome", .failure(.refused(.init(.forbidden))))
    #expect(screen.shown == .init(weather: weather("Rome"), age: .seconds(180)))
    #expect(screen.problem != nil)
  }

  @Test("a saved copy grows older in front of the person, minute by minute, until new weather comes")
  func growingOlder() {
    service.answers = [.success(weather("Oslo")), .success(weather("Rome"))]
    screen.refresh()
    scheduler.advance()
    scheduler.advance(by: .seconds(30))
    service.answers = Array(repeating: .failure(.refused(.init(.forbidden))), count: 2)
    screen.refresh()
    search("Rome", .failure(.refused(.init(.forbidden))))
    #expect(screen.shown?.age == .seconds(30))
    scheduler.advance(by: .milliseconds(29_999))
    #expect(screen.shown?.age == .seconds(30))
    scheduler.advance(by: .milliseconds(1))
    #expect(screen.shown?.age == .seconds(60))
    scheduler.advance(by: .seconds(7_200))
    #expect(screen.shown == .init(weather: weather("Rome"), age: .seconds(7_260)))
    #expect(screen.cities.map(\.age) == [.seconds(7_260), .seconds(7_260)])
    service.answers = [.success(weather("Oslo")), .success(weather("Rome"))]
    screen.refresh()
    search("Rome", .success(weather("Rome")))
    scheduler.advance(by: .seconds(600))
    #expect(screen.shown?.age == nil)
    #expect(screen.cities.map(\.age) == [nil, nil])
  }

  @Test("a copy of another place is no answer")
  func otherPlace() {
    search("Rome", .success(weather("Rome")))
    search("Oslo", .failure(.refused(.init(.forbidden))))
    #expect(screen.shown == nil)
  }

  @Test("a service under repair is waited for, and asked again by itself")
  func maintenance() {
    search("Rome", .failure(.server(.init(.serverError(503), retryAfter: .seconds(30)))), .success(weather("Rome")))
    #expect(screen.problem?.secondsLeft == 30)
    scheduler.advance(by: .seconds(29))
    #expect(screen.problem?.secondsLeft == 1)
    scheduler.advance(by: .seconds(1))
    scheduler.advance()
    #expect(screen.problem == nil)
    #expect(screen.shown?.weather == weather("Rome"))
  }

  @Test("a wrong key is asked for anew, and the weather follows by itself")
  func key() {
    search("Rome", .failure(.invalidKey))
    guard case .signIn(let message)? = screen.problem?.presentation else {
      Issue.record("nobody asks for a key: \(String(describing: screen.problem))")
      return
    }
    #expect(message.text == "Key is invalid")
    service.answers = [.success(weather("Rome"))]
    screen.use(key: "right")
    scheduler.advance()
    #expect(service.keys == ["right"])
    #expect(screen.problem == nil)
    #expect(screen.shown?.weather == weather("Rome"))
  }

  @Test("the list follows as soon as a new key has brought weather, and not before")
  func keyForTheList() {
    service.answers = Array(repeating: .failure(.invalidKey), count: 2)
    screen.refresh()
    scheduler.advance()
    search("Rome", .failure(.invalidKey))
    service.answers = [.failure(.invalidKey)]
    screen.use(key: "wrong")
    scheduler.advance()
    #expect(service.asked.count == 4)
    service.answers = ["Rome", "Oslo", "Rome"].map { .success(weather($0)) }
    screen.use(key: "right")
    scheduler.advance()
    scheduler.advance()
    #expect(service.asked.count == 7)
    #expect(screen.cities.map(\.failure) == [nil, nil])
    #expect(screen.cities.map(\.weather) == [weather("Oslo"), weather("Rome")])
  }

  @Test("a lost connection is waited for, whoever lost it, and everything that is missing is asked for then")
  func offline() {
    service.answers = [.failure(.offline), .failure(.offline), .failure(.offline)]
    screen.refresh()
    screen.query = "Rome"
    screen.search()
    scheduler.advance()
    #expect(service.probes == 1)
    #expect(screen.problem?.presentation.message?.topic == .offline)
    #expect(screen.cities.allSatisfy { $0.failure != nil })

    service.answers = ["Rome", "Oslo", "Rome"].map { .success(weather($0)) }
    service.reachable.send(completion: .finished)
    scheduler.advance(by: .seconds(60))
    #expect(screen.problem == nil)
    #expect(screen.shown != nil)
    #expect(screen.cities.allSatisfy { $0.failure == nil && $0.weather != nil })
    #expect(service.asked.count == 6)
  }

  @Test("giving up stops the wait for the service")
  func dismiss() {
    search("Rome", .failure(.offline))
    screen.dismiss()
    #expect(screen.problem == nil)
    service.reachable.send(completion: .finished)
    scheduler.advance(by: .seconds(60))
    #expect(service.asked.count == 1)
  }

  @Test("giving up a search leaves the list its wait for the service")
  func dismissWithList() {
    service.answers = [.failure(.offline), .failure(.offline)]
    screen.refresh()
    scheduler.advance()
    search("Rome", .failure(.offline))
    screen.dismiss()

    service.answers = ["Oslo", "Rome"].map { .success(weather($0)) }
    service.reachable.send(completion: .finished)
    scheduler.advance(by: .seconds(60))
    #expect(screen.problem == nil)
    #expect(screen.cities.map(\.weather) == [weather("Oslo"), weather("Rome")])
    #expect(service.asked.count == 5)
  }

  @Test("the latest search wins, whatever the order of the answers")
  func latest() {
    search("Rome")
    search("Oslo", .success(weather("Oslo")))
    #expect(screen.shown?.weather == weather("Oslo"))
    scheduler.advance(by: .seconds(60))
    #expect(screen.shown?.weather == weather("Oslo"))
  }

  @Test("a city of the list that fails shows its copy with its age, or the reason")
  func list() {
    service.answers = [.success(weather("Oslo")), .success(weather("Rome"))]
    screen.refresh()
    #expect(screen.isRefreshing)
    scheduler.advance()
    #expect(!screen.isRefreshing)
    scheduler.advance(by: .seconds(60))
    service.answers = [.failure(.server(.init(.serverError(503)))), .success(weather("Rome"))]
    screen.refresh()
    scheduler.advance()
    #expect(screen.cities.map(\.age) == [.seconds(60), nil])
    #expect(screen.cities.map(\.failure) == ["Server error", nil])
  }

  @Test("a place that can't be found out is told, and goes by itself or by a press")
  func notLocated() throws {
    screen.notLocated(isForbidden: true)
    #expect(screen.notice?.text.contains("Allow it") == true)
    screen.dismissNotice(try #require(screen.notice?.id))
    #expect(screen.notice == nil)
    screen.notLocated(isForbidden: false)
    scheduler.advance(by: .seconds(10))
    #expect(screen.notice == nil)
  }

  @Test("a screen that nobody holds is released while it waits")
  func released() throws {
    weak var released: WeatherViewModel<TestScheduler>?
    do {
      let service = ScriptedWeather()
      service.answers = [.failure(.server(.init(.serverError(503))))]
      let screen = WeatherViewModel(
        service: service,
        cities: [],
        saved: saved,
        log: AttemptLog(scheduler: scheduler),
        scheduler: scheduler
      )
      released = screen
      screen.query = "Rome"
      screen.search()
      scheduler.advance()
    }
    scheduler.advance(by: .seconds(60))
    #expect(released == nil)
  }

  // MARK: What is measured

  private func decisions(_ policy: String, _ decision: String) -> Int {
    let labels = [Metric.Label("source", "weather"), .init("policy", policy), .init("decision", decision)]
    return metrics.snapshot.counters[Metric("rebound_decisions", labels[0], labels[1], labels[2])] ?? 0
  }

  private func fail(_ city: String, times: Int) {
    let failure = Result<Weather, WeatherFailure>.failure(.server(.init(.serverError(503))))
    service.answers = Array(repeating: failure, count: times)
    screen.query = city
    screen.search()
    scheduler.advance(by: .seconds(30))
    scheduler.advance()
  }

  @Test("a service that fails until the end is four retries after 19 seconds of pauses, and one that gives up")
  func failingCounts() throws {
    fail("Rome", times: 5)
    #expect(service.asked.count == 5)
    #expect(decisions("retry", "retrying") == 4)
    #expect(decisions("retry", "attempts_exhausted") == 1)
    #expect(decisions("fallback", "falling_back") == 0)
    let source = Metric.Label("source", "weather")
    let delays = try #require(
      metrics.snapshot.histograms[Metric("rebound_retry_delay_seconds", source, .init("from", "computed"))]
    )
    #expect(delays.count == 4)
    #expect(delays.sum == 1 + 3 + 5 + 10)
    let elapsed = Metric("rebound_retry_elapsed_seconds", source, .init("reason", "attempts_exhausted"))
    #expect(metrics.snapshot.histograms[elapsed]?.sum == 19)
    #expect(metrics.snapshot.counters.count == 2)
  }

  @Test("a copy that stands in is counted once for each answer that failed")
  func savedCounts() {
    search("Rome", .success(weather("Rome")))
    search("Rome", .failure(.refused(.init(.forbidden))))
    search("Rome", .failure(.refused(.init(.forbidden))))
    search("Oslo", .failure(.refused(.init(.forbidden))))
    #expect(decisions("fallback", "falling_back") == 2)
    #expect(decisions("retry", "not_retryable") == 3)
  }

  @Test("retries end when all pages together have used up the budget, before their number does")
  func budgetCounts() {
    fail("Rome", times: 5)
    #expect(budget.snapshot().available == 1)
    fail("Oslo", times: 5)
    #expect(service.asked.count == 5 + 2)
    #expect(decisions("retry", "budget_exhausted") == 1)
    #expect(budget.snapshot().available == 0)
  }

  @Test("no city is a label, however many there are")
  func labels() {
    search("Rome", .success(weather("Rome")))
    search("Rome", .failure(.refused(.init(.forbidden))))
    let before = Set(metrics.snapshot.counters.keys)
    for number in 1...20 {
      search("City \(number)", .success(weather("City \(number)")))
      search("City \(number)", .failure(.refused(.init(.forbidden))))
    }
    #expect(Set(metrics.snapshot.counters.keys) == before)
    #expect(decisions("fallback", "falling_back") == 21)
  }
}
