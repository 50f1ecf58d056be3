import Rebound
import Testing
import WebServer

@testable import App

@Suite("ClientMetrics")
struct ClientMetricsTests {
  private let program = ProgramMetrics()
  private let changes = Locked(0)

  private func makeMetrics(of app: Tab = .weather) -> ClientMetrics {
    ClientMetrics(app: app, program: program) { [changes] in changes.withLock { $0 += 1 } }
  }

  @Test("two apps have numbers of their own, and the program has their sum")
  func sum() {
    let (first, second) = (makeMetrics(), makeMetrics())
    let requests = Metric("http_client_attempts", .init("operation", "Ask"), .init("resend", "false"))
    first.sink.add(1, to: requests)
    second.sink.add(2, to: requests)
    #expect(first.totals.facts.map(\.value) == ["1"])
    #expect(second.totals.facts.map(\.value) == ["2"])
    #expect(program.table.snapshot.counters[requests] == 3)
    #expect(changes.withLock { $0 } == 2)
  }

  @Test("decisions of the app's policies are counted by both")
  func decisions() {
    let metrics = makeMetrics()
    metrics.events.tell(FallbackEvent.fallingBack(from: CancellationError()), of: "weather")
    #expect(metrics.totals.facts == [.init(id: "saved", name: "Saved copies", value: "1")])
    #expect(program.table.snapshot.counters.values.map { $0 } == [1])
  }

  @Test("an app's shared policies are told of in its own totals alone")
  func gauges() throws {
    let budget = try RetryBudget.bucket(tokens: 7, cost: 1)
    program.shared.watch(budget, named: "weather")
    let (weather, animals) = (makeMetrics(of: .weather), makeMetrics(of: .animals))
    for metrics in [weather, animals] { metrics.sink.add(1, to: Metric("http_client_attempts")) }
    #expect(weather.totals.facts.map(\.id) == ["requests", "budget"])
    #expect(animals.totals.facts.map(\.id) == ["requests"])
  }

  @Test("what is no longer used listens to nothing, and is freed")
  func freed() {
    var metrics: ClientMetrics? = makeMetrics()
    weak let weakly = metrics
    let events = metrics?.events
    metrics = nil
    #expect(weakly == nil)
    events?.tell(FallbackEvent.fallingBack(from: CancellationError()), of: "weather")
    #expect(program.table.snapshot.counters.isEmpty)
  }

  @Test("a label with too many values costs the program no more than a bounded number of series")
  func bounded() {
    let metrics = makeMetrics()
    for number in 1...5_000 { metrics.sink.add(1, to: Metric("mistake", .init("city", "\(number)"))) }
    #expect(program.table.snapshot.counters.count == 2_000)
    #expect(program.table.snapshot.refused == 3_000)
  }
}
