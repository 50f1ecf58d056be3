import Dispatch
import Expectations
import Foundation
import Testing

@testable import Rebound

@Suite("Shared")
struct SharedTests {
  @Test("tells events in the order of the decisions, one at a time, whoever decides", arguments: 0..<5)
  func order(round: Int) {
    let shared = Shared<Int, Int>(0)
    let log = EventLog<Int>()
    shared.observe(log.write)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<250 {
        shared.change { state, events in
          state += 1
          events.append(state)
        }
      }
    }
    expectEqual(log.events, Array(1...1_000))
  }

  @Test("lets observers change the state, and tells what comes of that after")
  func reentrant() {
    let shared = Shared<Int, Int>(0)
    let log = EventLog<Int>()
    shared.observe { event in
      if event < 3 { shared.change { $1.append(event + 1) } }
    }
    shared.observe(log.write)
    shared.change { $1.append(1) }
    expectEqual(log.events, [1, 2, 3])
  }

  @Test("keeps no thread for ever while others decide as fast as it tells: after 1,024 events another one goes on")
  func handOver() async {
    let (shared, told, last) = (Shared<Int, Int>(0), Log<(event: Int, thread: pthread_t)>(), 5_000)
    shared.observe { event in
      // Decided while the thread tells, as by others.
      if event < last { shared.change { $1.append(event + 1) } }
      told.write((event, pthread_self()))
    }
    expectEqual(countOfCaller(shared, told), 1_024)
    await told.until(last)
    expectEqual(told.entries.map(\.event), Array(1...last))
  }

  /// How many events this thread tells when it decides once.
  private func countOfCaller(_ shared: Shared<Int, Int>, _ told: Log<(event: Int, thread: pthread_t)>) -> Int {
    shared.change { $1.append(1) }
    return told.entries.count { pthread_equal($0.thread, pthread_self()) != 0 }
  }

  @Test("builds no event for observers to whom nobody listens, and calls those alone to whom somebody does")
  func audiences() {
    let shared = Shared<Int, Int>(0)
    let (audience, other) = (Audience(), Audience())
    let (heard, unheard, built) = (Log<Int>(), Log<Int>(), Log<Int>())
    shared.observe(for: audience) { heard.write($0) }
    shared.observe(for: other) { unheard.write($0) }
    func tell(_ event: Int) {
      func build() -> Int {
        built.write(event)
        return event
      }
      shared.change { $1.append(build()) }
    }
    tell(1)
    #expect(!shared.adjust { $1 })
    audience.change(by: 1)
    #expect(shared.adjust { $1 })
    tell(2)
    audience.change(by: -1)
    tell(3)
    shared.observe { heard.write($0) }
    tell(4)
    expectEqual(built.entries, [2, 4])
    expectEqual(heard.entries, [2, 4])
    #expect(unheard.entries.isEmpty)
  }

  @Test("lets go of observers to whom nobody will listen again when another comes")
  func forgottenAudience() {
    let shared = Shared<Int, Int>(0)
    let audience = Audience()
    audience.change(by: 1)
    weak var kept: Log<Int>?
    do {
      let log = Log<Int>()
      kept = log
      shared.observe(for: audience, log.write)
    }
    shared.observe(for: Audience()) { _ in }
    shared.change { $1.append(1) }
    expectEqual(kept?.entries, [1])
    audience.end()
    #expect(!shared.adjust { $1 })
    shared.observe(for: Audience()) { _ in }
    #expect(kept == nil)
  }

  @Test("keeps nothing for observers that come later, and tells what was decided before an error")
  func errors() {
    let shared = Shared<Int, Int>(0)
    let log = EventLog<Int>()
    shared.change { $1.append(1) }
    shared.observe(log.write)
    #expect(throws: TestFailure.permanent) {
      try shared.change { (state, events) throws(TestFailure) in
        state = 7
        events.append(2)
        throw .permanent
      }
    }
    expectEqual(log.events, [2])
    expectEqual(shared.read { $0 }, 7)
  }
}
