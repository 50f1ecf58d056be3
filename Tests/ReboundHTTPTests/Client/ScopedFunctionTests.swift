import Expectations
import StreamSupport
import Testing

@testable import ReboundHTTP

@Suite("ScopedFunction")
struct ScopedFunctionTests {
  @Test("once its scope has ended, it is not called and not kept")
  func takenBack() async throws {
    final class Held: Sendable {}
    weak var released: Held?
    let calls = Locked(0)
    let scoped: ScopedFunction<Int> = {
      let held = Held()
      released = held
      return ScopedFunction {
        withExtendedLifetime(held) { calls.withLock { $0 += 1 } }
        return 7
      }
    }()
    try await expectEqual(scoped.call(), 7)
    #expect(released != nil)
    await scoped.end()
    #expect(released == nil)
    await #expect(throws: CancellationError.self) { try await scoped.call() }
    expectEqual(calls.withLock { $0 }, 1)
  }

  @Test("its scope ends when the last call has ended, with a value or an error")
  func waits() async throws {
    let (calls, called) = AsyncStream<CheckedContinuation<Int, any Error>>.makeStream()
    let scoped = ScopedFunction { try await withCheckedThrowingContinuation { called.yield($0) } }
    let first = Task { try await scoped.call() }
    let second = Task { try await scoped.call() }
    var iterator = calls.makeAsyncIterator()
    let running = [try #require(await iterator.next()), try #require(await iterator.next())]

    let isBack = Locked(false)
    let taking = Task {
      await scoped.end()
      isBack.withLock { $0 = true }
    }
    running[0].resume(throwing: TransportFailure(.reset))
    for _ in 0..<10 { await Task.yield() }
    #expect(!isBack.withLock { $0 })
    running[1].resume(returning: 7)
    await taking.value
    let results = [await first.result, await second.result]
    expectEqual(results.compactMap { try? $0.get() }, [7])
  }
}
