import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("CallWindow")
struct CallWindowTests {
  private struct Call {
    let isFailure: Bool
    let isSlow: Bool
    let time: Duration
  }

  private func randomCalls(_ seed: UInt64) -> [Call] {
    var numbers = SeededRandom(seed: seed)
    var time = Duration.zero
    return (0..<200).map { _ in
      time += .milliseconds(Int.random(in: 0...3_000, using: &numbers))
      return Call(isFailure: .random(using: &numbers), isSlow: .random(using: &numbers), time: time)
    }
  }

  @Test("counts the last calls as a plain list does", arguments: 0..<5 as Range<UInt64>, [1, 2, 7])
  func calls(seed: UInt64, size: Int) {
    let calls = randomCalls(seed)
    var window = CallWindow(.calls(size))
    for (index, call) in calls.enumerated() {
      window.add(isFailure: call.isFailure, isSlow: call.isSlow, now: call.time)
      let last = calls[0...index].suffix(size)
      expectEqual(window.counts.calls, last.count)
      expectEqual(window.counts.failures, last.count(where: \.isFailure))
      expectEqual(window.counts.slow, last.count(where: \.isSlow))
    }
  }

  @Test("counts the calls of the last ten parts of the time as a plain list does", arguments: 0..<5 as Range<UInt64>)
  func time(seed: UInt64) {
    let calls = randomCalls(seed)
    var window = CallWindow(.time(.seconds(10)))
    for (index, call) in calls.enumerated() {
      window.add(isFailure: call.isFailure, isSlow: call.isSlow, now: call.time)
      let oldest = call.time.components.seconds - 9
      let last = calls[0...index].filter { $0.time.components.seconds >= oldest }
      expectEqual(window.counts.calls, last.count)
      expectEqual(window.counts.failures, last.count(where: \.isFailure))
      expectEqual(window.counts.slow, last.count(where: \.isSlow))
    }
  }

  @Test("forgets every call after a silence of a whole window, and one part of them with each part of it")
  func silence() {
    var window = CallWindow(.time(.seconds(10)))
    for second in 0..<10 { window.add(isFailure: true, isSlow: true, now: .seconds(second)) }
    for second in 9...19 {
      let left = 19 - second
      let counts = window.counts(now: .seconds(second))
      expectEqual([counts.calls, counts.failures, counts.slow], [left, left, left])
    }
    window.add(isFailure: false, isSlow: false, now: .seconds(19))
    let counts = window.counts
    expectEqual([counts.calls, counts.failures, counts.slow], [1, 0, 0])
  }
}
