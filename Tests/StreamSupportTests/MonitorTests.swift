import Expectations
import StreamSupport
import Testing

@Suite("Monitor")
struct MonitorTests {
  @Test("whoever waits goes on as soon as the state meets the condition, and not before")
  func met() async {
    let monitor = Monitor(0)
    let order = Monitor<[Int]>([])
    let tasks = [3, 1].map { count in
      Task {
        await monitor.until { $0 >= count }
        order.withLock { $0.append(count) }
      }
    }
    monitor.withLock { $0 = 1 }
    await tasks[1].value
    expectEqual(order.withLock { $0 }, [1])
    monitor.withLock { $0 = 3 }
    await tasks[0].value
    expectEqual(order.withLock { $0 }, [1, 3])
    // What is so already is not waited for.
    await monitor.until { $0 == 3 }
  }

  @Test("a wait ends when its task is cancelled, be it before or behind its beginning", arguments: [true, false])
  func cancelled(isWaiting: Bool) async {
    let monitor = Monitor(0)
    let asked = Monitor(0)
    let task = Task {
      await monitor.until { value in
        asked.withLock { $0 += 1 }
        return value > 0
      }
    }
    if isWaiting {
      await asked.until { $0 > 0 }
      // Let in once it waits.
      monitor.withLock { _ in }
    }
    task.cancel()
    await task.value
    let before = asked.withLock { $0 }
    monitor.withLock { $0 = 1 }
    expectEqual(asked.withLock { $0 }, before, "nobody waits any more")
  }
}
