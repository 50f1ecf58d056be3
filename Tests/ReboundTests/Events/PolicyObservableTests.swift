import Combine
import Expectations
import Rebound
import ReboundTelemetry
import ReboundTesting
import Testing

@Suite("PolicyObservable")
struct PolicyObservableTests {
  @Test("tells what the cache's own events say, of keys of any type")
  func cache() throws {
    let scheduler = TestScheduler()
    let policy = try CachePolicy(
      fresh: .seconds(1),
      staleWhileRevalidate: .seconds(1),
      staleIfError: .seconds(10),
      negative: .seconds(5),
      maxCount: 2,
      maxCost: 10
    )
    let cache = Cache<Int, Int, any Error>(policy: policy, cost: { $0 })
    let own = EventLog<String>()
    cache.onEvent { own.write("forecasts: cache: \($0)") }
    let events = PolicyEvents()
    let log = PolicyEventLog(of: events)
    events.watch(cache, named: "forecasts")
    func ask(_ key: Int) {
      Fail<Int, any Error>(error: TestFailure.transient).cached(in: cache, for: key, time: scheduler.time)
        .subscribe(Recorder<Cached<Int>, any Error>())
    }

    cache.store(1, for: 7, at: scheduler.elapsed)
    ask(7)
    scheduler.advance(by: .milliseconds(1_500))
    ask(7)
    scheduler.advance(by: .seconds(8))
    ask(7)
    ask(8)
    ask(8)
    cache.store(50, for: 9, at: scheduler.elapsed)
    for key in 10...12 { cache.store(1, for: key, at: scheduler.elapsed) }

    expectEqual(log.events.map(\.description), own.events)
    #expect(log.events.allSatisfy { $0.decision is CacheEvent<Int> })
    let kinds = [
      "7: stored", "7: hit", "7: stale, 1.5 seconds old; delivered while", "7: no new value",
      "7: stale, 9.5 seconds old; delivered since", "8: missed", "8: failure stored", "8: failed lately",
      "9: not stored",
      "7: evicted",
    ]
    for kind in kinds { #expect(own.events.contains { $0.hasPrefix("forecasts: cache: \(kind)") }, "\(kind)") }
  }

  @Test("tells what the coalescer's own events say, of keys of any type")
  func coalescer() {
    let coalescer = Coalescer<Int, Int, TestFailure>()
    let own = EventLog<String>()
    coalescer.onEvent { own.write("flights: coalescing: \($0)") }
    let events = PolicyEvents()
    let log = PolicyEventLog(of: events)
    events.watch(coalescer, named: "flights")
    let upstream = TestPublisher<Int, TestFailure>()
    for _ in 1...2 { upstream.coalesced(by: coalescer, for: 7).subscribe(Recorder<Int, TestFailure>()) }
    upstream.send(completion: .finished)
    expectEqual(log.events.map(\.description), own.events)
    expectEqual(own.events.count, 3)
  }

  // MARK: Of one's own

  private enum DoorEvent: String, PolicyDecision {
    case opened

    static let kind = PolicyKind("door")
    var word: String { rawValue }
    var description: String { rawValue }
  }

  private struct DoorReading: PolicyReading {
    let opened: Int
    var description: String { "opened \(opened) times" }
    var measurements: [PolicyMeasurement] {
      [
        PolicyMeasurement("door_opened", opened, "How often it was opened."),
        PolicyMeasurement("door_width", 0.5, labels: [.init("unit", "metre")]),
      ]
    }
  }

  private final class Door: PolicyObservable {
    static let kind = PolicyKind("door")
    let name = "front"
    private let log = EventLog<DoorEvent>()
    private let observers = EventLog<@Sendable (any PolicyDecision) -> Void>()

    var reading: (any PolicyReading)? { DoorReading(opened: log.events.count) }
    func onDecision(_ observer: @escaping @Sendable (any PolicyDecision) -> Void) { observers.write(observer) }

    func open() {
      log.write(.opened)
      for observer in observers.events { observer(DoorEvent.opened) }
    }
  }

  private final class Wall: PolicyObservable {
    static let kind = PolicyKind("wall")
  }

  @Test("is all that an object of one's own needs for its decisions and its gauge")
  func own() {
    let events = PolicyEvents()
    let log = PolicyEventLog(of: events)
    let door = Door()
    for _ in 1...2 { events.watch(door) }
    for _ in 1...3 { door.open() }
    expectEqual(log.events.map(\.description), Array(repeating: "front: door: opened", count: 3))
    expectEqual(events.gauges.map(\.description), ["front: door: opened 3 times"])
    expectEqual(events.gauges.map(\.kind), [Door.kind])
    let lines = MetricsTable().openMetrics(gauges: events.gauges).split(separator: "\n")
    expectEqual(
      lines.prefix(5),
      [
        "# TYPE door_opened gauge",
        "# HELP door_opened How often it was opened.",
        #"door_opened{source="front"} 3"#,
        "# TYPE door_width gauge",
        #"door_width{source="front",unit="metre"} 0.5"#,
      ]
    )
  }

  @Test("of one's own is held weakly, and told under another name if it is given one")
  func ownIsWeak() {
    let events = PolicyEvents()
    var door: Door? = Door()
    weak let gone = door
    if let door { events.watch(door, named: "back") }
    expectEqual(events.gauges.map(\.name), ["back"])
    door = nil
    #expect(gone == nil)
    #expect(events.gauges.isEmpty)
  }

  @Test("may have nothing to read, nothing to tell and no name")
  func defaults() {
    let events = PolicyEvents()
    let wall = Wall()
    events.watch(wall)
    expectEqual(wall.name, "wall")
    #expect(events.gauges.isEmpty)
  }

  @Test("what the program says of a gauge's name counts more than what the gauge says")
  func description() {
    let table = MetricsTable()
    table.describe("door_opened", as: "Said by the program.")
    let gauge = PolicyGauge(name: "front", kind: Door.kind, reading: DoorReading(opened: 1))
    let lines = table.openMetrics(gauges: [gauge]).split(separator: "\n")
    expectEqual(lines.filter { $0.hasPrefix("# HELP door_") }, ["# HELP door_opened Said by the program."])
  }
}
