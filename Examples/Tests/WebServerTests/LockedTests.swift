import Dispatch
import Testing

@testable import WebServer

@Suite("Locked")
struct LockedTests {
  @Test("no change is lost when many threads make them")
  func concurrentChanges() {
    let count = Locked(0)
    DispatchQueue.concurrentPerform(iterations: 1000) { _ in count.withLock { $0 += 1 } }
    #expect(count.withLock { $0 } == 1000)
  }

  @Test("the lock is released when the body throws")
  func throwing() {
    struct Failure: Error {}
    let value = Locked(1)
    #expect(throws: Failure.self) { try value.withLock { _ in throw Failure() } }
    #expect(value.withLock { $0 } == 1)
  }
}
