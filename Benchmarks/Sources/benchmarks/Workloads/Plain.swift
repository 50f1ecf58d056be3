import Foundation

extension Workloads {
  /// For scale: what the language itself takes.
  static func plain(_ total: Total) -> [Benchmark] {
    [
      Benchmark("plain loop: map, filter, add") { count in
        for number in 0..<count {
          let tripled = number &* 3
          if tripled & 1 == 0 { total.add(tripled) }
        }
      },
      Benchmark("AsyncStream → map → filter", count: 20_000) { count in
        let done = DispatchSemaphore(value: 0)
        Task {
          let numbers = AsyncStream<Int> { continuation in
            for number in 0..<count { continuation.yield(number) }
            continuation.finish()
          }
          for await number in numbers.map({ $0 &* 3 }).filter({ $0 & 1 == 0 }) { total.add(number) }
          done.signal()
        }
        done.wait()
      },
    ]
  }
}
