import Combine
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
    #expect(subscriber.receive() == .max(2))
    #expect(count == 2)
    handle.cancel()
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
    #expect(received == ["2"])
    handle.cancel()
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
