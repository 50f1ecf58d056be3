import Combine
import Expectations
import Foundation
import ReboundTesting
import Testing

@Suite("breakpoint")
struct BreakpointTests {
  @Test("closures that say no are asked before each event, and everything passes")
  func passes() {
    var asked: [String] = []
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(2),
      answering: { _, _ in
        asked.append("passed")
        return .max(3)
      }
    )
    upstream.breakpoint(
      receiveSubscription: { _ in
        asked.append("subscription")
        return false
      },
      receiveOutput: {
        asked.append("value \($0)")
        return false
      },
      receiveCompletion: { _ in
        asked.append("end")
        return false
      }
    )
    .subscribe(recorder)
    expectEqual(upstream.send(1), .max(3))
    upstream.send(completion: .failure(.expected))

    expectEqual(asked, ["subscription", "value 1", "passed", "end"])
    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.completion, .failure(.expected))
  }

  @Test("the closures for subscriptions and ends are asked before these pass, too")
  func askedFirst() {
    var log: [String] = []
    func note(_ word: String) -> Bool {
      log.append(word)
      return false
    }
    let upstream = TestPublisher<Int, TestFailure>()
    upstream.breakpoint(receiveSubscription: { _ in note("subscription") }, receiveCompletion: { _ in note("end") })
      .subscribe(
        AnySubscriber(
          receiveSubscription: { _ in log.append("passed") },
          receiveCompletion: { _ in log.append("passed") }
        )
      )
    upstream.send(completion: .finished)
    expectEqual(log, ["subscription", "passed", "end", "passed"])
  }

  @Test("the upstream's own subscription and every event pass")
  func laws() {
    PassThroughLaws.check(named: "Breakpoint") { $0.breakpoint() }
  }

  @Test("a normal end does not stop a breakpoint on errors")
  func finish() {
    let recorder = Recorder<Int, Never>()
    Just(1).breakpointOnError().subscribe(recorder)

    #expect(recorder.isFinished)
  }

  @Test("a closure that says yes stops the process")
  func stops() async {
    await #expect(processExitsWith: .signal(SIGTRAP)) {
      Just(1).breakpoint(receiveSubscription: { _ in true }).subscribe(Recorder<Int, Never>())
    }
    await #expect(processExitsWith: .failure) {
      Just(1).breakpoint(receiveOutput: { $0 == 1 }).subscribe(Recorder<Int, Never>())
    }
    await #expect(processExitsWith: .failure) {
      let upstream = TestPublisher<Int, TestFailure>()
      upstream.breakpointOnError().subscribe(Recorder<Int, TestFailure>())
      upstream.send(completion: .failure(.expected))
    }
  }
}
