import Combine

extension Workloads {
  /// Whole lives of chains: made, subscribed, ended.
  static func lives(_ total: Total) -> [Benchmark] {
    [
      Benchmark("subject → map → filter → sink: made and cancelled", count: 20_000, prototype: 469) { count in
        let subject = PassthroughSubject<Int, Never>()
        for _ in 0..<count {
          subject.map { $0 &* 3 }.filter { $0 & 1 == 0 }.sink { total.add($0) }.cancel()
        }
      },
      Benchmark("Fail → mapError → catch → sink, whole", count: 20_000, prototype: 292) { count in
        for number in 0..<count {
          let subscription = Fail<Int, Refusal>(error: Refusal(code: number))
            .mapError { Refusal(code: $0.code &+ 1) }
            .catch { Just($0.code) }
            .sink { total.add($0) }
          subscription.cancel()
        }
      },
      Benchmark("Fail → retry(3) → sink, whole", count: 20_000, prototype: 386) { count in
        for number in 0..<count {
          let subscription = Fail<Int, Refusal>(error: Refusal(code: number))
            .retry(3)
            .sink(receiveCompletion: { _ in total.add(1) }, receiveValue: { total.add($0) })
          subscription.cancel()
        }
      },
      Benchmark("Just → tryMap that throws → sink, whole", count: 20_000) { count in
        for number in 0..<count {
          let subscription = Just(number)
            .tryMap { throw Refusal(code: $0) }
            .sink(receiveCompletion: { _ in total.add(1) }, receiveValue: { (value: Int) in total.add(value) })
          subscription.cancel()
        }
      },
    ]
  }
}

/// Why a publisher of these benchmarks fails.
private struct Refusal: Error {
  let code: Int
}
