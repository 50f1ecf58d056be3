import ServerTesting
import Testing
import WebServer

@Suite("ServerTimer")
struct ServerTimerTests {
  @Test("the Dispatch timer runs its work, the shorter delay first")
  func runs() async throws {
    let timer = DispatchServerTimer()
    let order = Locked<[String]>([])
    let done = Signal()
    timer.run(after: .milliseconds(40)) {
      order.withLock { $0.append("long") }
      done.give()
    }
    timer.run(after: .milliseconds(1)) { order.withLock { $0.append("short") } }
    try await done.wait()
    #expect(order.withLock { $0 } == ["short", "long"])
  }
}
