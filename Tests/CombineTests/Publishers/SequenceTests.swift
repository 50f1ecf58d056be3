import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Publishers.Sequence")
struct SequenceTests {
  @Test("delivers as much as is asked, and the end right after the last value")
  func demand() {
    let recorder = Recorder<Int, Never>(requesting: .max(1), answering: { value, _ in value == 1 ? .max(1) : .none })
    (1...4).publisher.subscribe(recorder)
    expectEqual(recorder.values, [1, 2])
    recorder.request(.none)
    expectEqual(recorder.values, [1, 2])
    recorder.request(.max(2))
    expectEqual(recorder.values, [1, 2, 3, 4])
    expectEqual(recorder.completions, [.finished])
  }

  @Test("a request from inside a value adds to the demand, without recursion")
  func requestInside() {
    var depth = 0
    let recorder = Recorder<Int, Never>(
      requesting: .max(1),
      answering: { _, recorder in
        depth += 1
        expectEqual(depth, 1)
        recorder.request(.max(1))
        depth -= 1
        return .none
      }
    )
    (0..<10_000).publisher.subscribe(recorder)
    expectEqual(recorder.values, Array(0..<10_000))
    #expect(recorder.isFinished)
  }

  @Test("a cancel from inside a value stops at once")
  func cancelInside() {
    let recorder = Recorder<Int, Never>(answering: { value, recorder in
      if value == 2 { recorder.cancel() }
      return .none
    })
    (1...4).publisher.subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .value(1), .value(2)])
  }

  @Test("is one element ahead of its subscriber")
  func lookAhead() {
    var made = 0
    let elements = sequence(state: ()) { _ in
      made += 1
      return made
    }
    let recorder = Recorder<Int, Never>(requesting: .none)
    elements.publisher.subscribe(recorder)
    expectEqual(made, 1)
    recorder.request(.max(1))
    expectEqual(made, 2)
    recorder.cancel()
  }

  @Test("without elements, ends at once")
  func empty() {
    let recorder = Recorder<Int, Never>(requesting: .none)
    [Int]().publisher.subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("describes itself as its elements, and differently once it is over")
  func reflection() {
    let subscription = [1, 2].publisher.subscriptionForTesting()
    expectEqual(SelfPortrait(of: subscription), SelfPortrait("[1, 2]", labels: ["sequence"]))
    subscription?.cancel()
    expectEqual(SelfPortrait(of: subscription), SelfPortrait("Sequence", labels: ["sequence"]))
    expectEqual(toldText("sequence", of: subscription), "[]")
  }

  @Test("describes itself differently after its end, too")
  func reflectionAfterEnd() {
    let subscription = (1...2).publisher.subscriptionForTesting()
    expectEqual(SelfPortrait(of: subscription), SelfPortrait("1...2", labels: ["sequence"]))
    expectEqual(toldText("sequence", of: subscription), "1...2")
    subscription?.request(.max(2))
    expectEqual(SelfPortrait(of: subscription), SelfPortrait("Sequence", labels: ["sequence"]))
    expectEqual(toldText("sequence", of: subscription), "[]")
  }
}
