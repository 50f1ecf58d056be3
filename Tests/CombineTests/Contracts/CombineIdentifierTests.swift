import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Identifiers")
struct CombineIdentifierTests {
  private final class Thing {}

  @Test("no two fresh ones are equal")
  func fresh() {
    expectEqual(Set((0..<100).map { _ in CombineIdentifier() }).count, 100)
  }

  @Test("that of an object is the same each time, and another one for each object")
  func objects() {
    let (one, other) = (Thing(), Thing())
    expectEqual(CombineIdentifier(one), CombineIdentifier(one))
    #expect(CombineIdentifier(one) != CombineIdentifier(other))
    expectEqual(Set([CombineIdentifier(one), CombineIdentifier(one)]).count, 1)
  }

  @Test("is written as a hexadecimal number in lower case")
  func text() throws {
    let text = CombineIdentifier(Thing()).description
    #expect(text.hasPrefix("0x") && text == text.lowercased())
    #expect(UInt64(text.dropFirst(2), radix: 16) != nil)
  }

  @Test("shows its number, and can't be coded")
  func parts() {
    let identifier = CombineIdentifier(Thing())
    let children = Mirror(reflecting: identifier).children
    expectEqual(children.map(\.label), ["rawValue"])
    #expect(children.first?.value is UInt64)
    #expect(!((identifier as Any) is any Encodable) && !((identifier as Any) is any Decodable))
  }

  @Test("the sides of operators with several upstreams have identifiers of their own")
  func sides() {
    var identifiers: [CombineIdentifier] = []
    func side() -> TestPublisher<Int, Never> {
      TestPublisher(handingOver: {
        identifiers.append($0.combineIdentifier)
        $0.receive(subscription: SubscriptionSpy())
      })
    }
    var subscriptions: [any Subscription] = []
    func subscriber<Input>() -> AnySubscriber<Input, Never> {
      AnySubscriber(receiveSubscription: {
        identifiers.append($0.combineIdentifier)
        // Kept, because an object that comes later may have the address of one that has gone.
        subscriptions.append($0)
      })
    }
    side().zip(side()).subscribe(subscriber())
    Publishers.Merge(side(), side()).subscribe(subscriber())
    Just(side()).eraseToAnyPublisher().flatMap { $0 }.subscribe(subscriber())
    let outer = PassthroughSubject<TestPublisher<Int, Never>, Never>()
    outer.switchToLatest().subscribe(subscriber())
    outer.send(side())
    expectEqual(identifiers.count, 10)
    expectEqual(Set(identifiers).count, 10)
  }

  @Test("both sides of a concatenation, and of a drop until, have the subscription's identifier")
  func sharedIdentifier() {
    var identifiers: [CombineIdentifier] = []
    func side(_ whenSubscribed: @escaping (AnySubscriber<Int, Never>) -> Void = { _ in }) -> TestPublisher<Int, Never> {
      TestPublisher(handingOver: {
        identifiers.append($0.combineIdentifier)
        $0.receive(subscription: SubscriptionSpy())
        whenSubscribed($0)
      })
    }
    let subscriber = AnySubscriber<Int, Never>(receiveSubscription: { identifiers.append($0.combineIdentifier) })
    side { $0.receive(completion: .finished) }.append(side()).subscribe(subscriber)
    #expect(identifiers.count == 3 && Set(identifiers).count == 1)

    identifiers = []
    side().drop(untilOutputFrom: side()).subscribe(subscriber)
    #expect(identifiers.count == 3 && Set(identifiers).count == 1)
  }

  @Test("a subscriber or subscription of a class is identified by the object")
  func classes() {
    let recorder = Recorder<Int, Never>()
    expectEqual(recorder.combineIdentifier, CombineIdentifier(recorder))
    #expect(recorder.combineIdentifier != Recorder<Int, Never>().combineIdentifier)
  }

  @Test("the subscription of most operators is the subscriber that its upstream sees")
  func operators() {
    var fromAbove: CombineIdentifier?
    let upstream = TestPublisher<Int, Never>(handingOver: {
      fromAbove = $0.combineIdentifier
      $0.receive(subscription: Subscriptions.empty)
    })
    expectEqual(upstream.removeDuplicates().subscriptionForTesting()?.combineIdentifier, fromAbove)
    expectEqual(upstream.count().subscriptionForTesting()?.combineIdentifier, fromAbove)
    expectEqual(
      upstream.buffer(size: 1, prefetch: .keepFull, whenFull: .dropOldest).subscriptionForTesting()?
        .combineIdentifier,
      fromAbove
    )
    #expect(fromAbove != nil)
  }

  @Test("the empty subscription is one for all, called Empty, shows nothing, and does nothing")
  func empty() {
    let subscription = Subscriptions.empty
    expectEqual(subscription.combineIdentifier, Subscriptions.empty.combineIdentifier)
    expectEqual(SelfPortrait(of: subscription), SelfPortrait("Empty", labels: []))
    subscription.request(.none)
    subscription.request(.unlimited)
    subscription.cancel()
    subscription.cancel()
  }
}
