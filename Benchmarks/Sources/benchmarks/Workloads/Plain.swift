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
      Benchmark("AsyncStream → map → filter", count: 20_000, hasBacklog: true) { count in
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
      // What a hop from thread to thread costs at least: with a second processor free it may be the double, and more.
      Benchmark("queue.async, one job per value", count: 20_000, hasBacklog: true) { count in
        let queue = DispatchQueue(label: "benchmark")
        for number in 0..<count { queue.async { total.add(number) } }
        queue.sync {}
      },
    ]
  }
}
