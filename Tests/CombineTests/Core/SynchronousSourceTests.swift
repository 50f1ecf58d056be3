import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Publishers that have their values at hand")
struct SynchronousSourceTests {
  typealias Numbers = AnyPublisher<Int, TestFailure>

  /// Publishers of one value.
  ///
  /// Erased first, so that the general operator changes the failure, and not one of the publisher's own.
  static var all: [String: Numbers] {
    [
      "Just": failing(Just(7).eraseToAnyPublisher()),
      "Optional": failing(Optional(7).publisher.eraseToAnyPublisher()),
      "Result": Result<Int, TestFailure>.success(7).publisher.eraseToAnyPublisher(),
      "Sequence": failing([7].publisher.eraseToAnyPublisher()),
      "Record": Record<Int, TestFailure>(output: [7], completion: .finished).eraseToAnyPublisher(),
      "Future": Future<Int, TestFailure> { $0(.success(7)) }.eraseToAnyPublisher(),
    ]
  }

  private static func failing(_ publisher: AnyPublisher<Int, Never>) -> Numbers {
    publisher.setFailureType(to: TestFailure.self).eraseToAnyPublisher()
  }

  @Test("let their subscriber go when it cancels, though it keeps the subscription", arguments: all.keys.sorted())
  func releaseOnCancel(name: String) throws {
    weak var released: Recorder<Int, TestFailure>?
    let subscription: any Subscription
    do {
      let recorder = Recorder<Int, TestFailure>(requesting: .none)
      released = recorder
      Self.all[name]?.subscribe(recorder)
      subscription = try #require(recorder.subscription)
    }
    #expect(released != nil)
    subscription.cancel()
    #expect(released == nil)
    subscription.request(.max(1))
  }

  @Test("serve the same subscriber as often as it comes, by a subscription each", arguments: all.keys.sorted())
  func sameSubscriber(name: String) throws {
    let publisher = try #require(Self.all[name])
    var subscriptions: [any Subscription] = []
    var events: [String] = []
    let subscriber = AnySubscriber<Int, TestFailure>(
      receiveSubscription: { subscriptions.append($0) },
      receiveValue: {
        events.append("\($0)")
        return .none
      },
      receiveCompletion: { _ in events.append("end") }
    )
    for _ in 0..<2 { publisher.subscribe(subscriber) }
    expectEqual(Set(subscriptions.map(\.combineIdentifier)).count, 2)
    for subscription in subscriptions { subscription.request(.max(1)) }
    expectEqual(events, ["7", "end", "7", "end"])
  }

  @Test("records add what is asked from inside a value to what is owed, without recursion")
  func requestInsideRecord() {
    var depth = 0
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(1),
      answering: { _, recorder in
        depth += 1
        expectEqual(depth, 1)
        recorder.request(.max(1))
        depth -= 1
        return .none
      }
    )
    Record<Int, TestFailure>(output: Array(0..<1_000), completion: .failure(.expected)).subscribe(recorder)
    expectEqual(recorder.values, Array(0..<1_000))
    expectEqual(recorder.failure, .expected)
  }
}
