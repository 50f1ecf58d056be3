import Dispatch
import Foundation
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

  @Test("work that keeps every core busy holds up neither Swift's tasks nor Dispatch's queues")
  func ownThreads() async throws {
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let queue = WorkQueue(name: "test", width: cores, backlog: 0)
    let mayEnd = Locked(false)
    let began = Signal()
    // No longer than the deadline, which only a broken queue reaches.
    let end = ContinuousClock.now + LoopbackClient.deadline
    let busy = (1...cores).map { _ in
      Task {
        try await queue.run {
          began.give()
          while ContinuousClock.now < end { if mayEnd.withLock({ $0 }) { return true } }
          return false
        }
      }
    }
    for _ in busy { try await began.wait() }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume() }
    }
    await Task.detached { mayEnd.withLock { $0 = true } }.value
    for task in busy { #expect(try await task.value) }
  }

  @Test("its threads end with it, after the work that it was given")
  func ends() async throws {
    let ended = Signal()
    let mayEnd = DispatchSemaphore(value: 0)
    final class Lease: Sendable {
      let ended: Signal
      init(_ ended: Signal) { self.ended = ended }
      deinit { ended.give() }
    }
    var queue: WorkQueue? = WorkQueue(name: "test", width: 1, backlog: 1)
    let began = Signal()
    let first = Task { [queue] in
      try await queue?.run {
        // Held by the thread, until it ends.
        Thread.current.threadDictionary["lease"] = Lease(ended)
        began.give()
        mayEnd.wait()
        return 1
      }
    }
    try await began.wait()
    queue = nil
    mayEnd.signal()
    #expect(try await first.value == 1)
    try await ended.wait()
  }
}
