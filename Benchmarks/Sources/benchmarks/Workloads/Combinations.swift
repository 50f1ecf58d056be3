import Combine

extension Workloads {
  /// A publisher for each value.
  static func flattening(_ total: Total) -> [Benchmark] {
    [
      Benchmark("sequence → flatMap to Just", prototype: 28) { count in
        let subscription = (0..<count).publisher.flatMap { Just($0) }.sink { total.add($0) }
        subscription.cancel()
      },
      Benchmark("sequence → flatMap to a sequence of one", count: 50_000) { count in
        let subscription = (0..<count).publisher
          .flatMap { repeatElement($0, count: 1).publisher }
          .sink { total.add($0) }
        subscription.cancel()
      },
      Benchmark("sequence → switchToLatest of Just", prototype: 50) { count in
        let justs = Publishers.Map(upstream: (0..<count).publisher) { Just($0) }
        let subscription = justs.switchToLatest().sink { total.add($0) }
        subscription.cancel()
      },
    ]
  }

  /// Several publishers that become one.
  static func joining(_ total: Total) -> [Benchmark] {
    [
      Benchmark("zip of two subjects, per pair", prototype: 30) { count in
        let first = PassthroughSubject<Int, Never>()
        let second = PassthroughSubject<Int, Never>()
        let subscription = first.zip(second).sink { total.add($0.0 &+ $0.1) }
        for number in 0..<count {
          first.send(number)
          second.send(number)
        }
        subscription.cancel()
      },
      Benchmark("zip of two sequences, per pair") { count in
        let subscription = (0..<count).publisher.zip((0..<count).publisher).sink { total.add($0.0 &+ $0.1) }
        subscription.cancel()
      },
      Benchmark("combineLatest of two subjects", prototype: 31) { count in
        let first = PassthroughSubject<Int, Never>()
        let second = PassthroughSubject<Int, Never>()
        let subscription = first.combineLatest(second).sink { total.add($0.0 &+ $0.1) }
        second.send(1)
        for number in 0..<count { first.send(number) }
        subscription.cancel()
      },
      Benchmark("merge of four subjects", prototype: 30) { count in
        let first = PassthroughSubject<Int, Never>()
        let second = PassthroughSubject<Int, Never>()
        let third = PassthroughSubject<Int, Never>()
        let fourth = PassthroughSubject<Int, Never>()
        let subscription = first.merge(with: second, third, fourth).sink { total.add($0) }
        for number in stride(from: 0, to: count, by: 4) {
          first.send(number)
          second.send(number)
          third.send(number)
          fourth.send(number)
        }
        subscription.cancel()
      },
    ]
  }

  /// Many who see the same values.
  static func sharing(_ total: Total) -> [Benchmark] {
    [
      Benchmark("subject → 100 sinks", count: 20_000) { count in
        let subject = PassthroughSubject<Int, Never>()
        let subscriptions = (0..<100).map { _ in subject.sink { total.add($0) } }
        for number in 0..<count { subject.send(number) }
        for subscription in subscriptions { subscription.cancel() }
      },
      Benchmark("share → 100 sinks", count: 20_000, limit: 635) { count in
        let subject = PassthroughSubject<Int, Never>()
        let shared = subject.share()
        let subscriptions = (0..<100).map { _ in shared.sink { total.add($0) } }
        for number in 0..<count { subject.send(number) }
        for subscription in subscriptions { subscription.cancel() }
      },
    ]
  }
}
