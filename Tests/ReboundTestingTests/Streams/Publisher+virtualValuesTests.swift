import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Values in virtual time")
struct VirtualValuesTests {
  private struct Failed: Error {}

  private let scheduler = TestScheduler()

  private func ticks(_ count: Int) -> AnyPublisher<Int, Never> {
    (1...count).publisher
      .flatMap(maxPublishers: .max(1)) { Just($0).delay(for: .seconds(3600), scheduler: scheduler) }
      .eraseToAnyPublisher()
  }

  @Test("are there at once, however late they come")
  func reads() throws {
    try expectEqual(ticks(3).firstValue(on: scheduler), 1)
    expectEqual(scheduler.now, .start.advanced(by: 3600))
    try expectEqual(ticks(3).nextValues(2, on: scheduler), [1, 2])
    try expectEqual(ticks(3).allValues(on: scheduler), [1, 2, 3])
    try expectEqual(ticks(3).lastValue(on: scheduler), 3)
    try expectEqual(ticks(1).singleValue(on: scheduler), 1)
    try expectEqual(ticks(1).nextValues(0, on: scheduler), [])
  }

  @Test("request no more than is wanted, and cancel after")
  func demand() throws {
    let publisher = TestPublisher<Int, Never>(whenSubscribed: { connection in
      for value in 1...2 { connection.send(value) }
    })
    try expectEqual(publisher.nextValues(2, on: scheduler), [1, 2])
    expectEqual(publisher.requests, [.max(2)])
    expectEqual(publisher.cancelCount, 1)
  }

  @Test("that do not come are an error that says what came instead, and where")
  func missing() {
    let line = #line + 1
    let error = #expect(throws: MissingValues.self) { try Empty<Int, Never>().firstValue(on: scheduler) }
    expectEqual(error?.location.line, line)
    expectEqual(
      error?.description,
      "Publisher+virtualValuesTests.swift:\(line): expected a value, but 0 values came and then the finish."
    )
    #expect(throws: MissingValues.self) { try Fail<Int, Failed>(error: Failed()).allValues(on: scheduler) }
    #expect(throws: MissingValues.self) { try ticks(2).singleValue(on: scheduler) }
    #expect(throws: MissingValues.self) { try Empty<Int, Never>().lastValue(on: scheduler) }
    let late = #expect(throws: MissingValues.self) { try ticks(3).nextValues(3, on: scheduler, within: .seconds(7200)) }
    expectEqual(late?.outcome.hasPrefix("2 values came within 7200.0 s; the next work is due at "), true)
    let silent = #expect(throws: MissingValues.self) {
      try Empty<Int, Never>(completeImmediately: false).firstValue(on: scheduler)
    }
    expectEqual(silent?.outcome, "0 values came, and nothing waits any more that could bring another")
  }

  @Test("say where there is always more to do at one moment")
  func endless() {
    let endless = #expect(throws: MissingValues.self) {
      try Fail<Int, Failed>(error: Failed()).receive(on: scheduler).retry(.max).firstValue(on: scheduler)
    }
    expectEqual(endless?.outcome, "there is always more to do at 0.0 s, and time does not go on")
  }
}
