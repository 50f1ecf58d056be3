import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("MisbehavingPublisher")
struct MisbehavingPublisherTests {
  private func record(
    _ faults: PublisherFaults,
    requesting demand: Subscribers.Demand = .unlimited,
    answering answer: @escaping (Int, Recorder<Int, Never>) -> Subscribers.Demand = { _, _ in .none }
  ) -> Recorder<Int, Never> {
    let recorder = Recorder<Int, Never>(requesting: demand, answering: answer)
    MisbehavingPublisher<Int, Never>([1, 2, 3], faults: faults).subscribe(recorder)
    return recorder
  }

  @Test("keeps the contract without faults")
  func behaves() {
    let recorder = record([], requesting: .max(1))
    expectEqual(recorder.events, [.subscription, .value(1)])
    recorder.request(.max(2))
    expectEqual(recorder.events, [.subscription, .value(1), .value(2), .value(3), .completion(.finished)])
    expectEqual(recorder.demand.excess, 0)

    let stepping = record([], requesting: .max(1), answering: { _, _ in .max(1) })
    expectEqual(stepping.values, [1, 2, 3])
    let leaving = record(
      [],
      answering: { _, recorder in
        recorder.cancel()
        return .none
      }
    )
    expectEqual(leaving.events, [.subscription, .value(1)])
  }

  @Test("breaks exactly the rule that it is told to break")
  func faults() {
    expectEqual(record(.exceedsDemand, requesting: .max(1)).demand.excess, 2)
    expectEqual(record(.completesTwice).completions, [.finished, .finished])
    let late = record(.sendsAfterCompletion).events
    expectEqual(late.suffix(2), [.completion(.finished), .value(3)])
    expectEqual(record(.withholdsSubscription).events.first, .value(1))
    expectEqual(record(.withholdsSubscription).subscriptionCount, 0)
    expectEqual(record(.subscribesTwice, requesting: .none).subscriptionCount, 2)
    let ignored = record(
      .ignoresCancel,
      answering: { _, recorder in
        recorder.cancel()
        return .none
      }
    )
    expectEqual(ignored.values, [1, 2, 3])
  }

  @Test("does not get an operator to break the rules, too")
  func operators() throws {
    let publisher = MisbehavingPublisher<Int, Never>([1, 2, 3], faults: [.exceedsDemand, .completesTwice])
    let recorder = Recorder<Int, Never>()
    publisher.prefix(1).subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
    expectEqual(publisher.subscriptionCount, 1)
    expectEqual(publisher.cancelCount, 1)
  }
}
