import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("MarblePublisher")
struct MarblePublisherTests {
  private let scheduler = TestScheduler()

  @Test("that is cold plays for each subscriber from its beginning, as it requests")
  func cold() throws {
    let publisher = try MarblePublisher(cold: values, values: ["a": 1, "b": 2], failure: Failed(), on: scheduler)
    let eager = Recorder<Int, Failed>(on: scheduler)
    let slow = Recorder<Int, Failed>(requesting: .max(1), on: scheduler)
    publisher.subscribe(eager)
    scheduler.advance(by: .ticks(1))
    publisher.subscribe(slow)
    scheduler.advance(by: .ticks(4))
    expectEqual(eager.marbles { $0 == 1 ? "a" : "b" }, "a-b#")
    expectEqual(slow.values, [1])
    slow.request(.max(1))
    expectEqual(slow.timedValues.map(\.time), [1, 5].map { .start.advanced(by: .ticks($0)) })
    expectEqual(slow.failure, Failed())
    expectEqual(publisher.subscriptionRows, ["^--#", "-^---#"])
    expectEqual(publisher.subscriptionCount, 2)
  }

  @Test("that is hot plays once for all, and tells who comes late of its end")
  func hot() throws {
    let publisher = try MarblePublisher(hot: "x^-a-b|", on: scheduler)
    let early = Recorder<String, MarbleFailure>(on: scheduler)
    let sparing = Recorder<String, MarbleFailure>(requesting: .max(1), on: scheduler)
    publisher.subscribe(early)
    publisher.subscribe(sparing)
    scheduler.advance(by: .ticks(3))
    let late = Recorder<String, MarbleFailure>(on: scheduler)
    publisher.subscribe(late)
    scheduler.advance(by: .ticks(10))
    expectEqual(early.marbles, "--a-b|")
    expectEqual(sparing.marbles, "--a--|")
    expectEqual(late.marbles, "----b|")
    let after = Recorder<String, MarbleFailure>(on: scheduler)
    publisher.subscribe(after)
    expectEqual(after.events, [.subscription, .completion(.finished)])
  }

  @Test("that is hot and ended before the present moment tells everybody of its end", arguments: ["-a|-^---", "#^"])
  func endedBefore(row: String) throws {
    let publisher = try MarblePublisher(hot: row, on: scheduler)
    let recorder = Recorder<String, MarbleFailure>(on: scheduler)
    publisher.subscribe(recorder)
    scheduler.advance(by: .ticks(9))
    expectEqual(recorder.marbles, row.contains("#") ? "#" : "|")
  }

  @Test("sends nothing after a cancel, and lets go of its subscriber")
  func cancels() throws {
    let publisher = try MarblePublisher(cold: "abc|", on: scheduler)
    weak var weakRecorder: Recorder<String, MarbleFailure>?
    do {
      let recorder = Recorder<String, MarbleFailure>(
        on: scheduler,
        answering: { value, recorder in
          if value == "b" { recorder.cancel() }
          return .none
        }
      )
      weakRecorder = recorder
      publisher.subscribe(recorder)
      scheduler.advance(by: .ticks(9))
      expectEqual(recorder.marbles, "ab")
    }
    expectEqual(publisher.subscriptionRows, ["^!"])
    #expect(weakRecorder == nil)
  }

  private let values = "a-b#"

  private struct Failed: Error, Equatable {}
}
