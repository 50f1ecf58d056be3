import Combine
import Expectations
import ReboundTesting
import Testing

/// What protocols add to all their types.
@Suite("What every publisher, subject and subscriber has")
struct ConveniencesTests {
  @Test("values without content are sent and received without saying so")
  func void() {
    let subject = PassthroughSubject<Void, Never>()
    var count = 0
    let handle = subject.sink { count += 1 }
    subject.send()
    let subscriber = AnySubscriber<Void, Never>(receiveValue: {
      count += 1
      return .max(2)
    })
    expectEqual(subscriber.receive(), .max(2))
    expectEqual(count, 2)
    handle.cancel()
  }

  /// A publisher with a method of the name that all publishers have.
  private struct Headstrong: Publisher {
    typealias Output = Int
    typealias Failure = Never

    func subscribe<S: Subscriber>(_ subscriber: S) where S.Input == Int, S.Failure == Never {
      Issue.record("this is not what others call")
    }

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      subscriber.receive(subscription: Subscriptions.empty)
    }
  }

  @Test("subscribing is no requirement: a publisher can't put its own in the place of it")
  func subscribing() {
    func attach(_ publisher: some Publisher<Int, Never>) -> Int {
      let recorder = Recorder<Int, Never>()
      publisher.subscribe(recorder)
      return recorder.subscriptionCount
    }
    expectEqual(attach(Headstrong()), 1)
    expectEqual(attach(Headstrong().removeDuplicates()), 1)
  }

  @Test("what only forwards goes on to the publisher behind when it is applied again")
  func fusing() {
    typealias Upstream = PassthroughSubject<Int, Never>
    let upstream = Upstream()
    let maps: Publishers.Map<Upstream, String> = upstream.map { $0 + 1 }.map { "\($0)" }
    let tryMaps: Publishers.TryMap<Upstream, String> = upstream.map { $0 + 1 }.tryMap { "\($0)" }
    let mapped: Publishers.TryMap<Upstream, Int> = upstream.tryMap { $0 + 1 }.map { $0 * 2 }
    let triedTwice: Publishers.TryMap<Upstream, Int> = upstream.tryMap { $0 + 1 }.tryMap { $0 * 2 }
    let failures: Publishers.SetFailureType<Upstream, any Error> =
      upstream.setFailureType(to: TestFailure.self).setFailureType(to: (any Error).self)
    #expect(maps.upstream === upstream && tryMaps.upstream === upstream && mapped.upstream === upstream)
    #expect(triedTwice.upstream === upstream && failures.upstream === upstream)
    var received: [String] = []
    let handle = maps.sink { received.append($0) }
    upstream.send(1)
    expectEqual(received, ["2"])
    handle.cancel()
  }

  @Test("what takes a transform is a map over what does not, and prefixes are ranges")
  func compositions() {
    let (a, b) = (PassthroughSubject<Int, Never>(), PassthroughSubject<String, Never>())
    typealias A = PassthroughSubject<Int, Never>
    typealias B = PassthroughSubject<String, Never>
    let zip: Publishers.Map<Publishers.Zip<A, B>, Int> = a.zip(b) { $0 + $1.count }
    let zip3: Publishers.Map<Publishers.Zip3<A, B, A>, Int> = a.zip(b, a) { $0 + $1.count + $2 }
    let zip4: Publishers.Map<Publishers.Zip4<A, B, A, B>, Int> = a.zip(b, a, b) { $0 + $1.count + $2 + $3.count }
    let latest: Publishers.Map<Publishers.CombineLatest<A, B>, Int> = a.combineLatest(b) { $0 + $1.count }
    let latest3: Publishers.Map<Publishers.CombineLatest3<A, B, A>, Int> =
      a.combineLatest(b, a) { $0 + $1.count + $2 }
    let latest4: Publishers.Map<Publishers.CombineLatest4<A, B, A, B>, Int> =
      a.combineLatest(b, a, b) { $0 + $1.count + $2 + $3.count }
    let nilReplaced: Publishers.Map<Publishers.Map<A, Int?>, Int> = a.map { Optional($0) }.replaceNil(with: 1)
    let prefix: Publishers.Output<A> = a.prefix(2)
    let appended: Publishers.Concatenate<A, Publishers.Sequence<[Int], Never>> = a.append(1, 2)
    let prepended: Publishers.Concatenate<Publishers.Sequence<[Int], Never>, A> = a.prepend(1, 2)
    #expect(zip.upstream.a === a && zip3.upstream.b === b && zip4.upstream.d === b)
    #expect(latest.upstream.a === a && latest3.upstream.b === b && latest4.upstream.d === b)
    #expect(nilReplaced.upstream.upstream === a && prefix.upstream === a)
    #expect(appended.suffix.sequence == [1, 2] && prepended.prefix.sequence == [1, 2])
  }

  @Test("what sequences, empties and failures have no short way for is the general operator")
  func generalOperators() {
    let numbers = [1, 2].publisher
    typealias Numbers = Publishers.Sequence<[Int], Never>
    let tryMap: Publishers.TryMap<Numbers, Int> = numbers.tryMap { $0 }
    let tryFilter: Publishers.TryFilter<Numbers> = numbers.tryFilter { $0 > 1 }
    let distinct: Publishers.RemoveDuplicates<Numbers> = numbers.removeDuplicates { $0 == $1 }
    let empty: Publishers.Map<Empty<Int, Never>, Int> = Empty<Int, Never>().map { $0 }
    let fail: Publishers.Map<Fail<Int, TestFailure>, Int> = Fail<Int, TestFailure>(error: .expected).map { $0 }
    let future: Publishers.Map<Future<Int, Never>, Int> = Future<Int, Never> { _ in }.map { $0 }
    let tryOptional: Publishers.TryMap<Optional<Int>.Publisher, Int> = Optional(1).publisher.tryMap { $0 }
    #expect(tryMap.upstream == numbers && tryFilter.upstream == numbers && distinct.upstream == numbers)
    #expect(empty.upstream == Empty() && fail.upstream == Fail(error: .expected))
    expectEqual(tryOptional.upstream, Optional(1).publisher)
    withExtendedLifetime(future) {}

    typealias Numbered = Optional<Int>.Publisher
    // Generic, because the compiler warns of code after a `Never` that it can see.
    func transform(_ failure: some Error) -> TestFailure { .other }
    let one = Optional(1).publisher
    let typed: Publishers.SetFailureType<Numbered, TestFailure> = one.setFailureType(to: TestFailure.self)
    let mapped: Publishers.MapError<Numbered, TestFailure> = one.mapError(transform)
    let appended: Publishers.Concatenate<Numbered, Numbers> = one.append(2)
    let prepended: Publishers.Concatenate<Numbers, Numbered> = one.prepend(2)
    #expect(typed.upstream == one && mapped.upstream == one && appended.prefix == one && prepended.suffix == one)

    typealias Both = Publishers.Concatenate<Numbers, Numbers>
    let both: Publishers.Map<Both, Int> = Both(prefix: numbers, suffix: numbers).map { $0 }
    let deferred: Publishers.Map<Deferred<Numbers>, Int> = Deferred { numbers }.map { $0 }
    let record: Publishers.Map<Record<Int, Never>, Int> = Record<Int, Never> { $0.receive(1) }.map { $0 }
    #expect(both.upstream.suffix == numbers && record.upstream.recording.output == [1])
    withExtendedLifetime(deferred) {}
  }

  @Test("zip and combineLatest subscribe in the order written, and hand over the subscription after the last")
  func meetingOrder() {
    var order: [String] = []
    func side(_ name: String) -> TestPublisher<Int, Never> {
      TestPublisher(whenSubscribed: { _ in order.append(name) })
    }
    side("a").zip(side("b"), side("c")).subscribe(
      AnySubscriber<(Int, Int, Int), Never>(receiveSubscription: { _ in order.append("zip") })
    )
    side("d").combineLatest(side("e"), side("f")).subscribe(
      AnySubscriber<(Int, Int, Int), Never>(receiveSubscription: { _ in order.append("combineLatest") })
    )
    // The last one's own report comes after it has handed its subscription over.
    expectEqual(order, ["a", "b", "zip", "c", "d", "e", "combineLatest", "f"])
  }

  @Test("those are equal to others with the same parts that Apple's are")
  func equality() {
    func isEqual<Value: Equatable>(_ value: Value, _ other: Value) -> Bool { value == other }
    let (one, two) = ([1].publisher, [2].publisher)
    #expect(isEqual(Publishers.Contains(upstream: one, output: 1), .init(upstream: one, output: 1)))
    #expect(!isEqual(Publishers.Contains(upstream: one, output: 1), .init(upstream: one, output: 2)))
    #expect(
      isEqual(one.combineLatest(two), one.combineLatest(two))
        && !isEqual(one.combineLatest(two), two.combineLatest(one))
    )
    #expect(isEqual(one.combineLatest(two, one), one.combineLatest(two, one)))
    #expect(isEqual(one.combineLatest(two, one, two), one.combineLatest(two, one, two)))
    #expect(isEqual(one.zip(two), one.zip(two)) && isEqual(one.zip(two, one), one.zip(two, one)))
    #expect(isEqual(one.zip(two, one, two), one.zip(two, one, two)))
    #expect(isEqual(one.merge(with: two), one.merge(with: two)) && isEqual(Publishers.MergeMany(one), .init(one)))
    #expect(isEqual(one.collect(2), one.collect(2)) && !isEqual(one.collect(2), one.collect(3)))
    #expect(isEqual(Publishers.Collect(upstream: one), .init(upstream: one)))
    #expect(isEqual(Publishers.Count(upstream: one), .init(upstream: one)))
    #expect(isEqual(Publishers.First(upstream: one), .init(upstream: one)))
    #expect(isEqual(Publishers.Last(upstream: one), .init(upstream: one)))
    #expect(isEqual(Publishers.IgnoreOutput(upstream: one), .init(upstream: one)))
    #expect(isEqual(Publishers.Drop(upstream: one, count: 1), .init(upstream: one, count: 1)))
    #expect(!isEqual(Publishers.Drop(upstream: one, count: 1), .init(upstream: one, count: 2)))
    #expect(isEqual(Publishers.Output(upstream: one, range: 0..<1), .init(upstream: one, range: 0..<1)))
    #expect(isEqual(Publishers.Retry(upstream: one, retries: 1), .init(upstream: one, retries: 1)))
    #expect(isEqual(one.replaceEmpty(with: 1), one.replaceEmpty(with: 1)))
    #expect(isEqual(Publishers.ReplaceError(upstream: one, output: 1), .init(upstream: one, output: 1)))
    #expect(isEqual(one.drop(untilOutputFrom: two), one.drop(untilOutputFrom: two)))
    #expect(isEqual(Publishers.Concatenate(prefix: one, suffix: two), .init(prefix: one, suffix: two)))
    #expect(isEqual(Publishers.SetFailureType<_, TestFailure>(upstream: one), .init(upstream: one)))
    #expect(isEqual(Publishers.PrefetchStrategy.keepFull, .keepFull))
    let shared = one.share()
    #expect(isEqual(shared, shared) && !isEqual(shared, one.share()))
  }
}
