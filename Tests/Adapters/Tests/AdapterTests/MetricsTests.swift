import Combine
import Metrics
import Rebound
import ReboundMetrics
import ReboundTelemetry
import Synchronization
import Testing

@Suite struct MetricsTests {
  private let factory = RecordingFactory()
  private let events = PolicyEvents()

  @Test func decisionsAreCountedWithTheirLabels() {
    let subscription = events.report(to: SwiftMetricsSink(factory: factory))
    events.tell(Decision(), of: "weather")
    events.tell(Decision(), of: "weather")
    subscription.cancel()
    let series = "rebound_decisions source=weather policy=door_keeper decision=let_in"
    #expect(factory.values == [series: [1, 1]])
  }

  @Test func aHandlerIsMadeOncePerSeries() {
    let sink = SwiftMetricsSink(factory: factory)
    for source in ["a", "b", "a", "a", "b"] { sink.add(1, to: Metric("calls", .init("source", source))) }
    #expect(factory.made == ["calls source=a", "calls source=b"])
  }

  @Test func measurementsOfDecisionsAreRecorded() {
    let subscription = events.report(to: SwiftMetricsSink(factory: factory))
    events.tell(Decision(measurements: [PolicyMeasurement("door_queue_length", 1.5)]), of: "weather")
    subscription.cancel()
    #expect(factory.values["door_queue_length source=weather"] == [1.5])
    #expect(factory.timed.isEmpty)
  }

  @Test func durationsAreTimed() {
    let subscription = events.report(to: SwiftMetricsSink(factory: factory))
    events.tell(Decision(measurements: [PolicyMeasurement("door_wait_seconds", 1.5)]), of: "weather")
    events.tell(Decision(measurements: [PolicyMeasurement("door_wait_seconds", 1e300)]), of: "weather")
    subscription.cancel()
    #expect(factory.timed == ["door_wait_seconds source=weather": [1_500_000_000, .max]])
    #expect(factory.made.filter { $0.hasPrefix("door_wait") }.count == 1)
  }

  @Test func gaugesOfSharedObjectsAreSet() throws {
    let sink = SwiftMetricsSink(factory: factory)
    let keeper = DoorKeeper()
    events.watch(keeper)
    sink.set(events.gauges)
    keeper.guests.withLock { $0 = 3 }
    sink.set(events.gauges)
    #expect(factory.values == ["door_guests source=front door=main": [0, 3]])
    #expect(factory.made.count == 1)
  }

  @Test func aGaugeThatIsNoNumberIsRefusedAndCounted() {
    let sink = SwiftMetricsSink(factory: factory)
    sink.set([PolicyGauge(name: "front", kind: DoorKeeper.kind, reading: BrokenScale())])
    #expect(factory.values == ["door_guests source=front": [1]])
    #expect(sink.refused == 2)
  }

  @Test func seriesBeyondTheLimitAreRefusedAndCounted() {
    let sink = SwiftMetricsSink(factory: factory, limit: 1)
    sink.add(1, to: Metric("a"))
    sink.record(1, in: Metric("b"))
    sink.add(1, to: Metric("a"))
    #expect(factory.values == ["a": [1, 1]])
    #expect(sink.refused == 1)
  }

  @Test func whatAMetricsSystemEndsTheProcessForIsRefusedAndCounted() {
    let sink = SwiftMetricsSink(factory: factory)
    sink.add(-1, to: Metric("calls"))
    sink.record(.nan, in: Metric("sizes"))
    sink.record(.infinity, in: Metric("waits_seconds"))
    #expect(factory.made.isEmpty)
    sink.add(1, to: Metric("calls"))
    sink.record(1, in: Metric("calls", .init("source", "a")))
    sink.record(1, in: Metric("door_guests"))
    let keeper = DoorKeeper()
    events.watch(keeper)
    sink.set(events.gauges)
    #expect(factory.values == ["calls": [1], "door_guests": [1]])
    #expect(sink.refused == 5)
  }
}

private final class DoorKeeper: PolicyObservable {
  struct Reading: PolicyReading {
    let guests: Int
    var description: String { "\(guests) guests" }
    var measurements: [PolicyMeasurement] {
      [PolicyMeasurement("door_guests", Double(guests), labels: [.init("door", "main")])]
    }
  }

  static let kind = PolicyKind("door keeper")
  let name = "front"
  let guests = Mutex(0)
  var reading: (any PolicyReading)? { Reading(guests: guests.withLock { $0 }) }
}

private struct BrokenScale: PolicyReading {
  let description = "out of order"
  let measurements = [
    PolicyMeasurement("door_kilograms", .nan), PolicyMeasurement("door_guests", 1),
    PolicyMeasurement("door_metres", .infinity),
  ]
}

/// Keeps what is measured by series: the label, then the dimensions.
private final class RecordingFactory: MetricsFactory {
  private final class Handler: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    private let factory: RecordingFactory
    private let series: String

    init(_ factory: RecordingFactory, _ series: String) {
      (self.factory, self.series) = (factory, series)
    }

    private func keep(_ value: Double) { factory.state.withLock { $0.values[series, default: []].append(value) } }

    func increment(by amount: Int64) { keep(Double(amount)) }
    func reset() {}
    func set(_ value: Int64) { keep(Double(value)) }
    func set(_ value: Double) { keep(value) }
    func increment(by amount: Double) {}
    func decrement(by amount: Double) {}
    func record(_ value: Int64) { keep(Double(value)) }
    func record(_ value: Double) { keep(value) }
    func recordNanoseconds(_ duration: Int64) {
      factory.state.withLock { $0.timed[series, default: []].append(duration) }
    }
  }

  private struct State {
    var made: [String] = []
    var values: [String: [Double]] = [:]
    var timed: [String: [Int64]] = [:]
  }

  private let state = Mutex(State())

  var made: [String] { state.withLock { $0.made } }
  var values: [String: [Double]] { state.withLock { $0.values } }
  /// Of timers, in nanoseconds.
  var timed: [String: [Int64]] { state.withLock { $0.timed } }

  private func make(_ label: String, _ dimensions: [(String, String)]) -> Handler {
    let series = ([label] + dimensions.map { "\($0)=\($1)" }).joined(separator: " ")
    state.withLock { $0.made.append(series) }
    return Handler(self, series)
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { make(label, dimensions) }
  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { make(label, dimensions) }
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    make(label, dimensions)
  }
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { make(label, dimensions) }
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyMeter(_ handler: any MeterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
}
