import StreamSupport
import Testing

@testable import ReboundHTTP

@Suite("LentFunction")
struct LentFunctionTests {
  @Test("once taken back, it is not called and not kept")
  func takenBack() async throws {
    final class Held: Sendable {}
    weak var released: Held?
    let calls = Locked(0)
    let lent: LentFunction<Int> = {
      let held = Held()
      released = held
      return LentFunction {
        withExtendedLifetime(held) { calls.withLock { $0 += 1 } }
        return 7
      }
    }()
    #expect(try await lent.call() == 7)
    #expect(released != nil)
    await lent.takeBack()
    #expect(released == nil)
    await #expect(throws: CancellationError.self) { try await lent.call() }
    #expect(calls.withLock { $0 } == 1)
  }

  @Test("it is taken back when the last call has ended, with a value or an error")
  func waits() async throws {
    let (calls, called) = AsyncStream<CheckedContinuation<Int, any Error>>.makeStream()
    let lent = LentFunction { try await withCheckedThrowingContinuation { called.yield($0) } }
    let first = Task { try await lent.call() }
    let second = Task { try await lent.call() }
    var iterator = calls.makeAsyncIterator()
    let running = [try #require(await iterator.next()), try #require(await iterator.next())]

    let isBack = Locked(false)
    let taking = Task {
      await lent.takeBack()
      isBack.withLock { $0 = true }
    }
    running[0].resume(throwing: TransportFailure(.reset))
    for _ in 0..<10 { await Task.yield() }
    #expect(!isBack.withLock { $0 })
    running[1].resume(returning: 7)
    await taking.value
    let results = [await first.result, await second.result]
    #expect(results.compactMap { try? $0.get() } == [7])
  }
}
