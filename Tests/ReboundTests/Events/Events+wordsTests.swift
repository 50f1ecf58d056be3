import Combine
import Rebound
import ReboundTesting
import Testing

@Suite("Events whose keys are told in words")
struct EventsInWordsTests {
  @Test("say what the cache's own events say")
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
    let cache = Cache<Int, Int, any Error>(policy: policy, time: .of(scheduler), cost: { $0 })
    let own = EventLog<String>()
    cache.onEvent { own.write("forecasts: cache: \($0)") }
    let events = PolicyEvents()
    let log = PolicyEventLog(of: events)
    events.watch(cache, named: "forecasts")
    func ask(_ key: Int) {
      Fail<Int, any Error>(error: TestFailure.transient).cached(in: cache, for: key)
        .subscribe(Recorder<Cached<Int>, any Error>())
    }

    cache.store(1, for: 7)
    ask(7)
    scheduler.advance(by: .milliseconds(1_500))
    ask(7)
    scheduler.advance(by: .seconds(8))
    ask(7)
    ask(8)
    ask(8)
    cache.store(50, for: 9)
    for key in 10...12 { cache.store(1, for: key) }

    #expect(log.events.map(\.description) == own.events)
    let kinds = [
      "7: stored", "7: hit", "7: stale, 1.5 seconds old; delivered while", "7: no new value",
      "7: stale, 9.5 seconds old; delivered since", "8: missed", "8: failure stored", "8: failed lately",
      "9: not stored",
      "7: evicted",
    ]
    for kind in kinds { #expect(own.events.contains { $0.hasPrefix("forecasts: cache: \(kind)") }, "\(kind)") }
  }

  @Test("say what the coalescer's own events say")
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
    #expect(log.events.map(\.description) == own.events)
    #expect(own.events.count == 3)
  }
}
