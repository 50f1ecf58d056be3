import Combine
import Expectations
import ReboundTesting
import Testing

/// Which publishers can be compared, if their parts can: these and no others.
@Suite("Equality of publishers")
struct EquatableTests {
  private final class Model: ObservableObject {
    @Published var number = 0
  }

  /// Publishers whose parts can be compared, one of each kind, by the names that ``publisherTypes`` has.
  private static func makeInstances() -> [String: Any] {
    let a = [1, 2].publisher
    let b = Just(1)
    let never = Fail<Int, ContractFailure>(error: .expected)
    let scheduler = ImmediateScheduler.shared
    let all: [any Publisher] = [
      a, b, never, Empty<Int, Never>(), Optional(1).publisher, Result<Int, ContractFailure>.success(1).publisher,
      a.eraseToAnyPublisher(), CurrentValueSubject<Int, Never>(1), PassthroughSubject<Int, Never>(),
      Deferred { b }, Future<Int, Never> { _ in }, Record<Int, ContractFailure>(output: [], completion: .finished),
      ObservableObjectPublisher(), Model().$number,
      Publishers.AllSatisfy(upstream: a) { _ in true }, Publishers.TryAllSatisfy(upstream: a) { _ in true },
      never.assertNoFailure(), a.breakpoint(), a.buffer(size: 1, prefetch: .keepFull, whenFull: .dropNewest),
      never.catch { _ in b }, never.tryCatch { _ in never }, Publishers.Collect(upstream: a), a.collect(2),
      a.collect(.byTime(scheduler, 1)), a.combineLatest(b), a.combineLatest(b, a), a.combineLatest(b, a, b),
      Publishers.CompactMap(upstream: a) { $0 }, a.tryCompactMap { $0 },
      Publishers.Comparison(upstream: a, areInIncreasingOrder: <),
      Publishers.TryComparison(upstream: a, areInIncreasingOrder: <), Publishers.Concatenate(prefix: a, suffix: b),
      Publishers.Contains(upstream: a, output: 1), Publishers.ContainsWhere(upstream: a) { _ in true },
      Publishers.TryContainsWhere(upstream: a) { _ in true }, Publishers.Count(upstream: a),
      a.debounce(for: 1, scheduler: scheduler), a.decode(type: Int.self, decoder: Coder()),
      a.delay(for: 1, scheduler: scheduler), Publishers.Drop(upstream: a, count: 1), a.drop(untilOutputFrom: b),
      Publishers.DropWhile(upstream: a) { _ in true }, a.tryDrop { _ in true }, a.encode(encoder: Coder()),
      Publishers.Filter(upstream: a, isIncluded: { _ in true }), a.tryFilter { _ in true },
      Publishers.First(upstream: a),
      Publishers.FirstWhere(upstream: a) { _ in true }, a.tryFirst { _ in true }, a.flatMap { Just($0) },
      a.handleEvents(), Publishers.IgnoreOutput(upstream: a), Publishers.Last(upstream: a),
      Publishers.LastWhere(upstream: a) { _ in true }, a.tryLast { _ in true }, a.makeConnectable(),
      Publishers.Map(upstream: a) { $0 }, a.tryMap { $0 }, a.map(\.magnitude), a.map(\.magnitude, \.description),
      a.map(\.magnitude, \.description, \.bitWidth), never.mapError { $0 as any Error },
      a.measureInterval(using: scheduler), Publishers.Merge(a, b), a.merge(with: b, a), a.merge(with: b, a, b),
      a.merge(with: b, a, b, a), a.merge(with: b, a, b, a, b), a.merge(with: b, a, b, a, b, a),
      a.merge(with: b, a, b, a, b, a, b), Publishers.MergeMany(a, a),
      a.multicast(subject: PassthroughSubject()), a.share(), a.makeConnectable().autoconnect(),
      Publishers.Output(upstream: a, range: 0..<1), a.prefix(untilOutputFrom: b),
      Publishers.PrefixWhile(upstream: a) { _ in true }, a.tryPrefix { _ in true }, a.print(),
      a.receive(on: scheduler), a.subscribe(on: scheduler), Publishers.Reduce(upstream: a, initial: 0) { $0 + $1 },
      Publishers.TryReduce(upstream: a, initial: 0) { $0 + $1 }, a.removeDuplicates { $0 == $1 },
      a.tryRemoveDuplicates { $0 == $1 }, a.replaceEmpty(with: 1), Publishers.ReplaceError(upstream: never, output: 1),
      Publishers.Retry(upstream: a, retries: 1), Publishers.Scan(upstream: a, initialResult: 0) { $0 + $1 },
      a.tryScan(0) { $0 + $1 }, Publishers.SetFailureType<Just<Int>, ContractFailure>(upstream: b),
      a.map { Just($0) }.switchToLatest(), a.throttle(for: 1, scheduler: scheduler, latest: true),
      a.timeout(1, scheduler: scheduler), a.zip(b), a.zip(b, a), a.zip(b, a, b),
    ]
    return Dictionary((all + makeFoundationInstances()).map { (Registration.plainName(of: type(of: $0)), $0 as Any) }) {
      first,
      _ in first
    }
  }

  private struct Coder: TopLevelEncoder, TopLevelDecoder {
    func encode<T: Encodable>(_ value: T) throws -> Int { 0 }
    func decode<T: Decodable>(_ type: T.Type, from data: Int) throws -> T { throw ContractFailure.expected }
  }

  private static let comparable: Set<String> = [
    "Publishers.Contains", "Publishers.CombineLatest", "Publishers.CombineLatest3", "Publishers.CombineLatest4",
    "Publishers.SetFailureType", "Optional.Publisher", "Publishers.Collect", "Publishers.CollectByCount",
    "Publishers.Merge", "Publishers.Merge3", "Publishers.Merge4", "Publishers.Merge5", "Publishers.Merge6",
    "Publishers.Merge7", "Publishers.Merge8", "Publishers.MergeMany", "Result.Publisher", "Publishers.Count",
    "Publishers.IgnoreOutput", "Publishers.Retry", "Publishers.ReplaceEmpty", "Publishers.ReplaceError",
    "Publishers.DropUntilOutput", "Publishers.Concatenate", "Publishers.Last", "Publishers.Sequence",
    "Publishers.Zip", "Publishers.Zip3", "Publishers.Zip4", "Publishers.Output", "Publishers.Drop",
    "Publishers.First", "Just", "Fail", "Empty", "Publishers.Share", "NotificationCenter.Publisher",
  ]

  @Test("every publisher of the module is looked at")
  func coverage() {
    expectEqual(builtPublisherTypes.subtracting(Self.makeInstances().keys).sorted(), [])
    expectEqual(Set(Self.makeInstances().keys).subtracting(builtPublisherTypes).sorted(), [])
  }

  @Test("those can be compared that Apple's can, and no others")
  func whichCan() {
    let found = Set(Self.makeInstances().filter { $0.value is any Equatable }.keys)
    expectEqual(found.subtracting(Self.comparable).sorted(), [], "should not be")
    expectEqual(Self.comparable.intersection(builtPublisherTypes).subtracting(found).sorted(), [], "should be")
  }

  @Test("one over parts that can't be compared can't, but for what is compared by identity")
  func unequatableParts() {
    let upstream = PassthroughSubject<Int, Never>()
    let publishers: [any Publisher] = [
      Publishers.Count(upstream: upstream), upstream.zip(upstream), Publishers.Merge(upstream, upstream),
      Publishers.Retry(upstream: upstream, retries: 1), Publishers.Contains(upstream: upstream, output: 1),
    ]
    for publisher in publishers { #expect(!(publisher is any Equatable), "\(type(of: publisher))") }
    #expect((upstream.share() as Any) is any Equatable)
    #expect((Empty<PassthroughSubject<Int, Never>, Never>() as Any) is any Equatable)
  }

  @Test("of the strategies only prefetching can be compared")
  func strategies() {
    #expect((Publishers.PrefetchStrategy.keepFull as Any) is any Hashable)
    #expect(!((Publishers.BufferingStrategy<ContractFailure>.dropNewest as Any) is any Equatable))
    let grouping = Publishers.TimeGroupingStrategy<ImmediateScheduler>.byTime(.shared, 1)
    #expect(!((grouping as Any) is any Equatable))
  }
}
