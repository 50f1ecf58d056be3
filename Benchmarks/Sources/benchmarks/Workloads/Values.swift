import Combine

extension Workloads {
  /// Values that a publisher has from the start.
  static func sequences(_ total: Total) -> [Benchmark] {
    [
      Benchmark("sequence → Map → Filter → Reduce, named", prototype: 6) { count in
        let tripled = Publishers.Map(upstream: (0..<count).publisher) { $0 &* 3 }
        let even = Publishers.Filter(upstream: tripled) { $0 & 1 == 0 }
        _ = Publishers.Reduce(upstream: even, initial: 0) { $0 &+ $1 }.sink { total.add($0) }
      },
      Benchmark("sequence → map → filter → reduce, fluent", prototype: 11) { count in
        _ = (0..<count).publisher
          .map { $0 &* 3 }.filter { $0 & 1 == 0 }.reduce(0) { $0 &+ $1 }
          .sink { total.add($0) }
      },
      Benchmark("map → filter → removeDuplicates of a sequence, fluent", limit: 25) { count in
        _ = (0..<count).publisher
          .map { $0 &* 3 }.filter { $0 & 1 == 0 }.removeDuplicates()
          .sink { total.add($0) }
      },
      Benchmark("map → filter → removeDuplicates of a sequence, named", limit: 10) { count in
        let tripled = Publishers.Map(upstream: (0..<count).publisher) { $0 &* 3 }
        let even = Publishers.Filter(upstream: tripled) { $0 & 1 == 0 }
        _ = Publishers.RemoveDuplicates(upstream: even, predicate: ==).sink { total.add($0) }
      },
      Benchmark("subject → collect") { count in
        let subject = PassthroughSubject<Int, Never>()
        let subscription = subject.collect().sink { total.add($0.count) }
        for number in 0..<count { subject.send(number) }
        subject.send(completion: .finished)
        subscription.cancel()
      },
    ]
  }

  /// Values sent one by one.
  static func subjects(_ total: Total) -> [Benchmark] {
    [
      Benchmark("subject → sink") { count in
        let subject = PassthroughSubject<Int, Never>()
        let subscription = subject.sink { total.add($0) }
        for number in 0..<count { subject.send(number) }
        subscription.cancel()
      },
      Benchmark("subject → map → filter → sink", prototype: 18) { count in
        let subject = PassthroughSubject<Int, Never>()
        let subscription = subject.map { $0 &* 3 }.filter { $0 & 1 == 0 }.sink { total.add($0) }
        for number in 0..<count { subject.send(number) }
        subscription.cancel()
      },
      Benchmark("the same, erased after each stage", prototype: 19) { count in
        let subject = PassthroughSubject<Int, Never>()
        let subscription =
          subject.eraseToAnyPublisher()
          .map { $0 &* 3 }.eraseToAnyPublisher()
          .filter { $0 & 1 == 0 }.eraseToAnyPublisher()
          .sink { total.add($0) }
        for number in 0..<count { subject.send(number) }
        subscription.cancel()
      },
      Benchmark("map → filter → removeDuplicates of a subject", limit: 30) { count in
        let subject = PassthroughSubject<Int, Never>()
        let subscription = subject.map { $0 &* 3 }.filter { $0 & 1 == 0 }.removeDuplicates().sink { total.add($0) }
        for number in 0..<count { subject.send(number) }
        subscription.cancel()
      },
      Benchmark("map → filter → removeDuplicates of a subject, erased", limit: 30) { count in
        let subject = PassthroughSubject<Int, Never>()
        let subscription =
          subject.eraseToAnyPublisher()
          .map { $0 &* 3 }.eraseToAnyPublisher()
          .filter { $0 & 1 == 0 }.eraseToAnyPublisher()
          .removeDuplicates().eraseToAnyPublisher()
          .sink { total.add($0) }
        for number in 0..<count { subject.send(number) }
        subscription.cancel()
      },
      Benchmark("ten erased maps", prototype: 39) { count in
        let subject = PassthroughSubject<Int, Never>()
        var chain = subject.eraseToAnyPublisher()
        for step in 0..<10 { chain = chain.map { $0 &+ step }.eraseToAnyPublisher() }
        let subscription = chain.sink { total.add($0) }
        for number in 0..<count { subject.send(number) }
        subscription.cancel()
      },
      Benchmark("CurrentValueSubject → sink", prototype: 15) { count in
        let subject = CurrentValueSubject<Int, Never>(0)
        let subscription = subject.sink { total.add($0) }
        for number in 0..<count { subject.send(number) }
        subscription.cancel()
      },
      Benchmark("@Published → sink", prototype: 15) { count in
        let counter = Counter()
        let subscription = counter.$number.sink { total.add($0) }
        for number in 0..<count { counter.number = number }
        subscription.cancel()
      },
    ]
  }
}

/// An object with a property that tells of its changes.
private final class Counter {
  @Published var number = 0
}
