import Expectations
import Foundation
import Rebound
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

@testable import ReboundHTTP

@Suite("TaskCarrier")
struct TaskCarrierTests {
  private let log = TransportLog()
  private let head = ResponseHead(status: 200, url: URL(filePath: "/"))
  private let piece = Data([1])

  private func exchange() -> OngoingExchange {
    OngoingExchange(TransportLimits(), ExchangeDeadlines(TestScheduler().time), telling: log.add)
  }

  @Test("carries an exchange to its end")
  func carries() async {
    let exchange = exchange()
    exchange.carry { [head, piece] carrier in
      exchange.receive(head)
      for _ in 0..<3 {
        await carrier.untilResumed()
        exchange.receive(piece)
      }
      exchange.finish()
    }
    await log.end()
    expectEqual(log.heads.count, 1)
    #expect(log.failure == nil)
    expectEqual(log.body, Data([1, 1, 1]))
  }

  @Test("its time is that of the limits, wherever the exchange begins")
  func time() async {
    let scheduler = TestScheduler()
    scheduler.advance(by: .seconds(42))
    let exchange = OngoingExchange(TransportLimits(), ExchangeDeadlines(scheduler.time), telling: log.add)
    let now = await withCheckedContinuation { continuation in
      exchange.carry { _ in
        continuation.resume(returning: TimeSource.current.now)
        exchange.finish()
      }
    }
    expectEqual(now, scheduler.time.now)
  }

  @Test("a pause holds up the next piece, until somebody wants more")
  func pauses() async {
    let exchange = exchange()
    let (steps, going) = AsyncStream<String>.makeStream()
    exchange.pause()
    exchange.carry { [head] carrier in
      exchange.receive(head)
      going.yield("waits")
      await carrier.untilResumed()
      going.yield("goes on")
      exchange.finish()
    }
    var iterator = steps.makeAsyncIterator()
    await expectEqual(iterator.next(), "waits")
    for _ in 0..<10 { await Task.yield() }
    expectEqual(log.events.contains { $0.isEnd }, false)
    exchange.resume()
    await expectEqual(iterator.next(), "goes on")
    await log.end()
  }

  @Test("a pause and its resume, however often, lose no wait")
  func races() async {
    for _ in 0..<200 {
      let log = TransportLog()
      let exchange = OngoingExchange(TransportLimits(), ExchangeDeadlines(TestScheduler().time), telling: log.add)
      exchange.carry { [head, piece] carrier in
        exchange.receive(head)
        for _ in 0..<5 {
          await carrier.untilResumed()
          guard exchange.receive(piece) else { return }
        }
        exchange.finish()
      }
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
          group.addTask {
            for _ in 0..<5 {
              exchange.pause()
              await Task.yield()
              exchange.resume()
            }
          }
        }
      }
      // Whichever of the two was last has let it go on.
      exchange.resume()
      await log.end()
      expectEqual(log.body.count, 5)
    }
  }

  @Test("a cancel in a pause lets the function go on, in a task that is cancelled")
  func cancels() async {
    let exchange = exchange()
    let (steps, going) = AsyncStream<Bool>.makeStream()
    exchange.pause()
    exchange.carry { [piece] carrier in
      going.yield(Task.isCancelled)
      await carrier.untilResumed()
      going.yield(Task.isCancelled)
      going.yield(exchange.receive(piece))
    }
    var iterator = steps.makeAsyncIterator()
    await expectEqual(iterator.next(), false)
    exchange.cancel()
    await expectEqual(iterator.next(), true)
    await expectEqual(iterator.next(), false, "Nothing more is wanted.")
    #expect(log.events.isEmpty)
  }

  @Test("what is cancelled before it begins is not carried")
  func cancelledBefore() async {
    let exchange = exchange()
    exchange.cancel()
    exchange.carry { _ in Issue.record("Nobody wants it.") }
    for _ in 0..<10 { await Task.yield() }
  }

  @Test("nothing is left of the function at the end, nor after a cancel", arguments: [false, true])
  func memory(isCancelled: Bool) async {
    final class Witness: Sendable {}
    weak var left: Witness?
    do {
      let witness = Witness()
      left = witness
      let exchange = exchange()
      let (steps, going) = AsyncStream<Void>.makeStream()
      exchange.carry { [head] carrier in
        exchange.receive(head)
        await withTaskCancellationHandler {
          if !isCancelled { exchange.finish() }
          await carrier.untilResumed()
        } onCancel: {
          going.finish()
        }
        withExtendedLifetime(witness) {}
        if !isCancelled { going.finish() }
      }
      if isCancelled { exchange.cancel() }
      for await _ in steps {}
    }
    // The task lets go of its function right after the last step.
    var looks = 0
    while left != nil, looks < 100_000 {
      looks += 1
      await Task.yield()
    }
    #expect(left == nil)
  }
}
