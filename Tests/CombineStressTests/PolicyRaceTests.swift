import Combine
import Expectations
import Rebound
import ReboundTesting
import Synchronization
import Testing

/// Policies that let calls through without their lock, while other threads hold it.
@Suite("Policies while threads race", .serialized)
struct PolicyRaceTests {
  private let crew = RaceCrew(size: 3)
  private let rounds = StressSettings.rounds

  /// Counts without a lock.
  ///
  /// Unchecked, because only who has the one place of a bulkhead counts.
  private final class UnlockedCount: @unchecked Sendable {
    var value = 0
  }

  @Test("a bulkhead with one place orders its calls as a lock does, whichever way each of them comes in and goes")
  func bulkhead() throws {
    let bulkhead = Bulkhead("one at a time", policy: try BulkheadPolicy(maxConcurrent: 1))
    let count = UnlockedCount()
    // Relaxed: to count the refused must not order anything.
    let refused = Atomic<Int>(0)
    let call = Just(()).setFailureType(to: (any Error).self)
      .handleEvents(receiveOutput: { _ in count.value += 1 })
      .protected(by: bulkhead)
    let subscribe = {
      for _ in 0..<100 {
        let call = call.sink(
          receiveCompletion: { if case .failure = $0 { refused.wrappingAdd(1, ordering: .relaxed) } },
          receiveValue: { _ in }
        )
        call.cancel()
      }
    }
    for round in 0..<rounds {
      let hasReturned = crew.run([
        subscribe, subscribe,
        {
          for _ in 0..<100 {
            if let permit = try? bulkhead.acquire() {
              count.value += 1
              permit.release()
            } else {
              refused.wrappingAdd(1, ordering: .relaxed)
            }
          }
        },
      ])
      let ended = count.value + refused.load(ordering: .relaxed)
      #expect(hasReturned && ended == (round + 1) * 300, "round \(round): \(ended)")
    }
    expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 0, queued: 0, limit: 1))
  }
}
