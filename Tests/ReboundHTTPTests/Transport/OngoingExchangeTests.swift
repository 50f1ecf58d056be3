import Dispatch
import Expectations
import Foundation
import Rebound
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

@testable import ReboundHTTP

@Suite("OngoingExchange")
struct OngoingExchangeTests {
  /// A carrier that writes down what it is told, and in the middle of its first pause has somebody else resume.
  private final class SlowCarrier: ExchangeCarrier, Sendable {
    private struct State {
      var isReading = true
      var calls: [String] = []
      var whilePausing: (@Sendable () -> Void)?
      var whileResuming: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var calls: [String] { state.withLock { $0.calls } }
    var isReading: Bool { state.withLock { $0.isReading } }

    func meanwhile(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.whilePausing = action } }
    func whenResuming(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.whileResuming = action } }

    func stop() { state.withLock { $0.calls.append("stop") } }

    func pause() {
      state.withLock { $0.whilePausing.take() }?()
      state.withLock { state in
        state.isReading = false
        state.calls.append("pause")
      }
    }

    func resume() {
      state.withLock { $0.whileResuming.take() }?()
      state.withLock { state in
        state.isReading = true
        state.calls.append("resume")
      }
    }
  }

  private func exchange(on carrier: SlowCarrier) -> OngoingExchange {
    let exchange = OngoingExchange(TransportLimits(), ExchangeDeadlines(TestScheduler().time)) { _ in }
    exchange.begin(on: carrier)
    return exchange
  }

  @Test("an answer that comes as fast as it is told lets the receivers of others have their turn")
  func turns() async {
    let queue = DispatchQueue(label: "receivers")
    let deadlines = ExchangeDeadlines(TestScheduler().time)
    let endless = Locked<OngoingExchange?>(nil)
    let told = Locked(0)
    let (before, log) = (ValueLog<Int>(), TransportLog())
    let first = OngoingExchange(TransportLimits(), deadlines, on: queue) { _ in
      let count = told.withLock { count in
        count += 1
        return count
      }
      // Without turns it would never end; so that it does, it stops here.
      if count < 10_000 { endless.withLock { $0 }?.receive(Data([1])) }
    }
    endless.withLock { $0 = first }
    let second = OngoingExchange(TransportLimits(), deadlines, on: queue) { event in
      before.append(told.withLock { $0 })
      log.add(event)
    }
    let exchanges = [first, second]
    for exchange in exchanges { exchange.begin(on: SlowCarrier()) }
    queue.suspend()
    for exchange in exchanges { exchange.receive(ResponseHead(status: 200, url: .service)) }
    queue.resume()
    await log.until { !$0.isEmpty }
    #expect(before.values.allSatisfy { $0 < 100 }, "\(before.values)")
    for exchange in exchanges { exchange.cancel() }
    endless.withLock { $0 = nil }
  }

  @Test("a pause that is overtaken by its resume does not last: the carrier reads on")
  func overtaken() {
    let carrier = SlowCarrier()
    let exchange = exchange(on: carrier)
    carrier.meanwhile { exchange.resume() }
    exchange.pause()
    #expect(carrier.isReading)
    expectEqual(carrier.calls, ["pause", "resume"])
  }

  @Test("a carrier that asks, and pauses by itself, is told to read on although it was never told to pause")
  func asked() {
    let carrier = SlowCarrier()
    let exchange = exchange(on: carrier)
    let asked = ValueLog<Bool>()
    exchange.pause()
    // A pause and its end that come while the carrier is being told to read on.
    carrier.whenResuming {
      exchange.pause()
      asked.append(exchange.isPaused)
      exchange.resume()
    }
    exchange.resume()
    expectEqual(asked.values, [true])
    expectEqual(carrier.calls, ["pause", "resume", "resume"])
  }

  @Test("a pause before the carrier is there holds for it")
  func early() {
    let carrier = SlowCarrier()
    let exchange = OngoingExchange(TransportLimits(), ExchangeDeadlines(TestScheduler().time)) { _ in }
    exchange.pause()
    exchange.begin(on: carrier)
    expectEqual(carrier.calls, ["pause"])
    exchange.resume()
    expectEqual(carrier.calls, ["pause", "resume"])
  }

  @Test("a second pause, and a resume of what is not paused, tell the carrier nothing")
  func repeated() {
    let carrier = SlowCarrier()
    let exchange = exchange(on: carrier)
    exchange.resume()
    exchange.pause()
    exchange.pause()
    exchange.resume()
    exchange.resume()
    expectEqual(carrier.calls, ["pause", "resume"])
  }
}
