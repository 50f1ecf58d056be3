import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Keyed")
struct KeyedTests {
  @Test("keeps the thousand used last of 1,001, and makes each once")
  func limit() {
    let made = EventLog<Int>()
    let keyed = Keyed<Int, CircuitBreaker> { key in
      made.write(key)
      return CircuitBreaker("\(key)", policy: .relaxed)
    }
    let first = keyed[0]
    for key in 1..<1_000 { _ = keyed[key] }
    #expect(keyed[0] === first)
    _ = keyed[1_000]
    expectEqual(keyed.count, 1_000)
    #expect(keyed.existing(1) == nil)
    #expect(keyed.existing(0) === first)
    expectEqual(made.events, Array(0...1_000))
    _ = keyed[1]
    expectEqual(made.events.last, 1)
  }

  @Test("lets calls go on with what was evicted, and makes a new one for the next")
  func eviction() throws {
    let keyed = Keyed<String, CircuitBreaker>(limit: 1) {
      CircuitBreaker($0, policy: .relaxed)
    }
    let upstream = TestPublisher<Int, any Error>()
    let recorder = Recorder<Int, any Error>()
    upstream.protected(by: keyed["a"]).subscribe(recorder)
    _ = keyed["b"]
    #expect(keyed.existing("a") == nil)
    upstream.send(1)
    upstream.send(completion: .finished)
    expectEqual(recorder.values, [1])
    #expect(recorder.isFinished)
    keyed["b"].isolate()
    expectEqual(keyed["a"].state, .closed)
    expectEqual(keyed["b"].state, .closed)
  }

  @Test("makes an object once, however many ask for it at the same time")
  func race() {
    let made = EventLog<Int>()
    let keyed = Keyed<Int, CircuitBreaker> { key in
      made.write(key)
      return CircuitBreaker("\(key)", policy: .relaxed)
    }
    let seen = EventLog<ObjectIdentifier>()
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for key in 0..<50 { seen.write(ObjectIdentifier(keyed[key])) }
    }
    expectEqual(made.events.sorted(), Array(0..<50))
    expectEqual(Set(seen.events).count, 50)
  }

  @Test("tells what is made and what goes")
  func events() {
    let log = EventLog<KeyedEvent<String>>()
    let keyed = Keyed<String, Int>(limit: 0) { $0.count }.onEvent(log.write)
    expectEqual(keyed["ab"], 2)
    expectEqual(keyed["c"], 1)
    keyed.remove("c")
    keyed.remove("c")
    expectEqual(log.lines, ["ab: made", "c: made", "ab: evicted", "c: evicted"])
    expectEqual(keyed.count, 0)
  }

  @Test("may ask for another key while it makes one")
  func nested() {
    let keyeds = EventLog<Keyed<Int, Int>>()
    let keyed = Keyed<Int, Int> { key in key == 0 ? 1 : key * (keyeds.events.first?[key - 1] ?? 0) }
    keyeds.write(keyed)
    expectEqual(keyed[5], 120)
  }
}

extension CircuitBreakerPolicy {
  /// The defaults, which are valid.
  fileprivate static var relaxed: CircuitBreakerPolicy {
    guard let policy = try? CircuitBreakerPolicy() else { preconditionFailure("the defaults are valid") }
    return policy
  }
}
