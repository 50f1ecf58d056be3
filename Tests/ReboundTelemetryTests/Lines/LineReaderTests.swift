import Combine
import Expectations
import Rebound
import ReboundTelemetry
import ReboundTesting
import StreamSupport
import Testing

@Suite("LineReader")
struct LineReaderTests {
  private let scheduler = TestScheduler()
  private let kept = Log<String>()

  private func numbers() -> [String] {
    kept.entries.map { $0.contains("lost") ? $0 : String($0.dropFirst(8).prefix { $0.isNumber }) }
  }

  @Test("one that is slow loses the oldest lines, and is told how many before it gets the next")
  func slow() {
    let lines = JSONLines(time: scheduler.time, saying: [EventField("app", "demo")]) { $0 }
    let reading = lines.read(keeping: 3, kept.write)
    for _ in 1...5 { lines.write("own", []) }
    scheduler.advance()
    expectEqual(numbers(), [#"{"type":"lost","count":2,"app":"demo"}"#, "3", "4", "5"])
    for _ in 6...7 { lines.write("own", []) }
    scheduler.advance()
    expectEqual(numbers().dropFirst(4), ["6", "7"], "what is lost is told once")
    reading.cancel()
  }

  @Test("what is written while it is busy waits, and no more of it than the limit")
  func busy() {
    let lines = JSONLines(time: scheduler.time) { $0 }
    let reading = lines.read(keeping: 2) { [lines, kept] line in
      if kept.entries.isEmpty { for _ in 1...4 { lines.write("own", []) } }
      kept.write(line)
    }
    lines.write("own", [])
    scheduler.advance()
    expectEqual(numbers(), ["1", #"{"type":"lost","count":2}"#, "4", "5"])
    reading.cancel()
  }

  @Test("lines that come as fast as they are read leave whoever else uses its queue a turn")
  func turns() {
    let lines = JSONLines(time: scheduler.time) { $0 }
    let others = Log<Int>()
    let reading = lines.read { [lines, kept, scheduler] line in
      if kept.entries.isEmpty { scheduler.schedule { others.write(kept.entries.count) } }
      kept.write(line)
      // Without turns it would never end; so that it does, it stops here.
      if kept.entries.count < 1_000 { lines.write("own", []) }
    }
    lines.write("own", [])
    scheduler.advance()
    expectEqual(others.entries, [1])
    expectEqual(kept.entries.count, 1_000)
    reading.cancel()
  }

  @Test("lines that come as fast as they are read on the immediate scheduler do not stand on each other on the stack")
  func flat() {
    let lines = JSONLines(time: TimeSource(ImmediateScheduler.shared)) { $0 }
    let depths = Log<UInt>()
    let reading = lines.read { [lines] _ in
      var here = 0
      withUnsafePointer(to: &here) { depths.write(UInt(bitPattern: $0)) }
      if depths.count < 2_000 { lines.write("own", []) }
    }
    lines.write("own", [])
    expectEqual(depths.count, 2_000)
    // AddressSanitizer keeps such a variable elsewhere, in a place that it does not use again soon.
    #if !ASAN
      #expect((depths.entries.max() ?? 0) - (depths.entries.min() ?? 0) < 64 * 1_024)
    #endif
    reading.cancel()
  }

  @Test("a slow one costs another nothing")
  func others() {
    let slow = TestScheduler()
    let lines = JSONLines(time: scheduler.time) { $0 }
    let first = lines.read(keeping: 1, on: slow.time) { _ in }
    let second = lines.read(kept.write)
    for _ in 1...3 {
      lines.write("own", [])
      scheduler.advance()
    }
    expectEqual(numbers(), ["1", "2", "3"])
    first.cancel()
    second.cancel()
  }

  @Test("one that leaves gets none of the lines that wait")
  func leaves() {
    let lines = JSONLines(time: scheduler.time) { $0 }
    let reading = lines.read(kept.write)
    for _ in 1...3 { lines.write("own", []) }
    reading.cancel()
    scheduler.advance()
    #expect(kept.entries.isEmpty)
  }

  @Test("one that leaves while it reads gets no line after that")
  func leavesInside() {
    let lines = JSONLines(time: scheduler.time) { $0 }
    let reading = Locked<AnyCancellable?>(nil)
    let own = lines.read { [kept] line in
      kept.write(line)
      reading.exchange(nil)?.cancel()
    }
    _ = reading.exchange(own)
    for _ in 1...3 { lines.write("own", []) }
    scheduler.advance()
    expectEqual(numbers(), ["1"])
    #expect(!lines.isRead)
  }

  @Test("a limit below one is one")
  func noLimit() {
    let lines = JSONLines(time: scheduler.time) { $0 }
    let reading = lines.read(keeping: -5, kept.write)
    for _ in 1...2 { lines.write("own", []) }
    scheduler.advance()
    expectEqual(numbers(), [#"{"type":"lost","count":1}"#, "2"])
    reading.cancel()
  }
}
