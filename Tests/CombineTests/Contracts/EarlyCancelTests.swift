import Expectations
import ReboundTesting
import Testing

@testable import Combine

/// A cancel by who takes an operator's subscriber for the subscription that it will be.
@Suite("A cancel before the subscription")
struct EarlyCancelTests {
  private typealias Upstream = TestPublisher<Int, any Error>

  /// What the upstream's subscription sees that comes after the cancel.
  private func seen<P: Publisher>(
    requesting demand: Subscribers.Demand = .max(2),
    _ build: (Upstream) -> P
  ) -> SubscriptionSpy {
    let spy = SubscriptionSpy()
    let recorder = Recorder<P.Output, P.Failure>(requesting: demand)
    build(
      Upstream(handingOver: {
        let subscription = $0.erased.subject as? any Subscription
        #expect(subscription != nil)
        subscription?.cancel()
        $0.receive(subscription: spy)
      })
    )
    .subscribe(recorder)
    expectEqual(recorder.subscriptionCount, 1)
    return spy
  }

  @Test("is forgotten by operators that are no subscription yet: they use the one that comes")
  func forgotten() {
    let spies = [
      seen { $0.encode(encoder: TestCoder()) },
      seen { $0.decode(type: String.self, decoder: TestCoder()) },
      seen { $0.measureInterval(using: ImmediateScheduler.shared) },
      seen { $0.prefix(5) },
      seen { $0.print("", to: Transcript()) },
      seen { $0.replaceError(with: 9) },
      seen { $0.handleEvents() },
      seen(requesting: .max(1)) { $0.collect(2) },
    ]
    for spy in spies {
      expectEqual(spy.requests, [.max(2)])
      expectEqual(spy.cancelCount, 0)
    }
  }

  @Test("is forgotten by replaceEmpty, which asks for everything besides")
  func replaceEmpty() {
    let spy = seen { $0.replaceEmpty(with: 9) }
    expectEqual(spy.requests, [.max(2), .unlimited])
    expectEqual(spy.cancelCount, 0)
  }

  @Test("is forgotten by handleEvents and not told, and the subscription is")
  func handleEvents() {
    var log: [String] = []
    _ = seen {
      $0.handleEvents(
        receiveSubscription: { _ in log.append("subscription") },
        receiveCancel: { log.append("cancel") },
        receiveRequest: { log.append("request \($0)") }
      )
    }
    expectEqual(log, ["subscription", "request max(2)"])
  }

  /// Keeps nothing of what is printed.
  private struct Transcript: TextOutputStream {
    mutating func write(_ string: String) {}
  }
}
