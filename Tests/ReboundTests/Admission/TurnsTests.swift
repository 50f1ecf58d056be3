import Expectations
import Rebound
import StreamSupport
import Testing

@Suite("Turns")
struct TurnsTests {
  @Test("that come at once go on in the one before, and the stack stays flat")
  func atOnce() {
    let (turns, depths) = (Turns(), Log<UInt>())
    turns.take {
      var here = 0
      withUnsafePointer(to: &here) { depths.write(UInt(bitPattern: $0)) }
      return depths.count < 1_000
    } asking: {
      $0()
    }
    expectEqual(depths.count, 1_000)
    // AddressSanitizer keeps such a variable elsewhere, in a place that it does not use again soon.
    #if !ASAN
      #expect((depths.entries.max() ?? 0) - (depths.entries.min() ?? 0) < 1_024)
    #endif
  }

  @Test("that come later let others come between")
  func later() {
    let (turns, log) = (Turns(), Log<String>())
    let waiting = Locked(Queue<@Sendable () -> Void>())
    turns.take {
      log.write("turn")
      return log.count < 5
    } asking: { turn in
      waiting.withLock { $0.append(turn) }
    }
    while let next = waiting.withLock({ $0.popFirst() }) {
      log.write("other")
      next()
    }
    expectEqual(log.entries, ["turn", "other", "turn", "other", "turn"])
  }
}
