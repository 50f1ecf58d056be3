import Dispatch
import ServerTesting
import Testing
import WebServer

@testable import Backend

@Suite("WorkQueue")
struct WorkQueueTests {
  @Test("results and errors of the work come back")
  func results() async throws {
    struct Failure: Error {}
    let queue = WorkQueue(name: "test", width: 1, backlog: 0)
    #expect(try await queue.run { 42 } == 42)
    await #expect(throws: Failure.self) { try await queue.run { throw Failure() } }
    #expect(try await queue.run { 43 } == 43)
  }

  @Test("no more than the width runs at once, and what doesn't fit into the backlog is refused")
  func bounds() async throws {
    let queue = WorkQueue(name: "test", width: 1, backlog: 1)
    let refused = Signal()
    let mayEnd = DispatchSemaphore(value: 0)
    let running = Locked((now: 0, most: 0))
    let done = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 1...5 {
        group.addTask {
          do {
            try await queue.run {
              running.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
              }
              mayEnd.wait()
              running.withLock { $0.now -= 1 }
            }
            return true
          } catch is WorkQueue.Full {
            refused.give()
            return false
          }
        }
      }
      for _ in 1...3 { try await refused.wait() }
      for _ in 1...2 { mayEnd.signal() }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(done.filter { $0 }.count == 2)
    #expect(running.withLock { $0.most } == 1)
    #expect(try await queue.run { 1 } == 1)
  }
}
