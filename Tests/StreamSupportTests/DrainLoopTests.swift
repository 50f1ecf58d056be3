import Dispatch
import Expectations
import StreamSupport
import Testing

@Suite("A drain loop")
final class DrainLoopTests: Sendable {
  private struct State: Drained {
    var loop = DrainLoop()
    var waiting = Queue<Int>()
    var isPaused = false
    var done: [Int] = []
    var atWork = 0

    mutating func takeNext() -> Int? { isPaused ? nil : waiting.popFirst() }
  }

  private let state = Locked(State())

  @Test("lets one in at a time, until that one has left or has found nothing more to do")
  func enter() {
    var loop = DrainLoop()
    let first = [loop.enter(), loop.enter()]
    let piece = loop.next(1)
    let between = loop.enter()
    let nothing = loop.next(nil as Int?)
    let second = [loop.enter(), loop.enter()]
    loop.leave()
    let third = loop.enter()
    expectEqual(first, [true, false])
    #expect(piece == 1 && !between && nothing == nil)
    expectEqual(second, [true, false])
    #expect(third)
  }

  @Test("can be entered from the start, so that nothing is done before somebody says so")
  func entered() {
    let state = Locked(State(loop: DrainLoop(isEntered: true)))
    state.drain(after: { $0.waiting.append(1) }) { _ in Issue.record("it has begun already") }
    var done: [Int] = []
    state.drainEntered { done.append($0) }
    expectEqual(done, [1])
    state.drain(after: { $0.waiting.append(2) }) { done.append($0) }
    expectEqual(done, [1, 2])
  }

  @Test("does what a piece leaves after that piece, on the same stack")
  func nested() {
    var depth = 0
    func work(_ number: Int) {
      state.drain(after: { $0.waiting.append(number) }) { number in
        depth += 1
        expectEqual(depth, 1)
        state.withLock { $0.done.append(number) }
        if number < 10_000 { work(number + 1) }
        depth -= 1
      }
    }
    work(0)
    expectEqual(state.withLock { $0.done }, Array(0...10_000))
  }

  @Test("leaves what may not be done now to whoever makes it possible")
  func paused() {
    var done: [Int] = []
    state.withLock { $0.isPaused = true }
    state.drain(after: { $0.waiting.append(1) }) { done.append($0) }
    #expect(done.isEmpty)
    state.drain(after: { $0.isPaused = false }) { done.append($0) }
    expectEqual(done, [1])
  }

  @Test("does everything once, and never two pieces at a time, whoever comes from which thread")
  func race() {
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<1_000 {
        state.drain(after: { $0.waiting.append(thread * 1_000 + number) }) { piece in
          let others = state.withLock { state in
            defer { state.atWork += 1 }
            return state.atWork
          }
          expectEqual(others, 0)
          state.withLock { state in
            state.done.append(piece)
            state.atWork -= 1
          }
        }
      }
    }
    let done = state.withLock { $0.done }
    expectEqual(done.sorted(), Array(0..<4_000))
    for thread in 0..<4 {
      let own = done.filter { $0 / 1_000 == thread }
      expectEqual(own, own.sorted())
    }
  }
}
