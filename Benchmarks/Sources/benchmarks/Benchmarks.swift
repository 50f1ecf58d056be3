import Combine
import Foundation

/// Prints what a value costs on its way through each chain, beside a plain loop and `AsyncStream` in the same run.
///
///     scripts/benchmark [rounds]
@main
enum Benchmarks {
  static func main() {
    // Some C libraries leave out the atomic part of a lock until a second thread exists; nobody measures that.
    let never = DispatchSemaphore(value: 0)
    let companion = Thread { never.wait() }
    companion.start()

    let rounds = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 15
    let total = Total()
    let benchmarks = plain(total) + sequences(total) + subjects(total)
    let results = Harness(rounds: rounds).measure(benchmarks)

    let loop = results[0]
    print(row("", "ns/value", "× loop", "limit"))
    for (benchmark, nanoseconds) in zip(benchmarks, results) {
      let limit = benchmark.limit.map { String(format: "%.0f%@", $0, nanoseconds <= $0 ? "" : "  over") } ?? ""
      print(
        row(benchmark.name, String(format: "%.1f", nanoseconds), String(format: "%.0f", nanoseconds / loop), limit)
      )
    }
    print("(checksum \(total.value))")
  }

  private static func row(_ name: String, _ cells: String...) -> String {
    name.padding(toLength: 58, withPad: " ", startingAt: 0)
      + cells.map { String(repeating: " ", count: max(0, 10 - $0.count)) + $0 }.joined()
  }

  private static let count = 200_000

  private static func plain(_ total: Total) -> [Benchmark] {
    [
      Benchmark("plain loop: map, filter, remove duplicates") {
        var last: Int?
        for number in 0..<count {
          let tripled = number &* 3
          if tripled & 1 == 0, tripled != last {
            last = tripled
            total.add(tripled)
          }
        }
      },
      Benchmark("AsyncStream → map → filter", count: 20_000) {
        let done = DispatchSemaphore(value: 0)
        Task {
          let numbers = AsyncStream<Int> { continuation in
            for number in 0..<20_000 { continuation.yield(number) }
            continuation.finish()
          }
          for await number in numbers.map({ $0 &* 3 }).filter({ $0 & 1 == 0 }) { total.add(number) }
          done.signal()
        }
        done.wait()
      },
    ]
  }

  private static func sequences(_ total: Total) -> [Benchmark] {
    [
      Benchmark("sequence → map → filter → removeDuplicates (eager)", limit: 25) {
        _ = (0..<count).publisher
          .map { $0 &* 3 }.filter { $0 & 1 == 0 }.removeDuplicates()
          .sink { total.add($0) }
      },
      Benchmark("sequence → Map → Filter → RemoveDuplicates (named)", limit: 10) {
        let tripled = Publishers.Map(upstream: (0..<count).publisher) { $0 &* 3 }
        let even = Publishers.Filter(upstream: tripled) { $0 & 1 == 0 }
        _ = Publishers.RemoveDuplicates(upstream: even, predicate: ==).sink { total.add($0) }
      },
    ]
  }

  private static func subjects(_ total: Total) -> [Benchmark] {
    [
      Benchmark("subject → sink") {
        let subject = PassthroughSubject<Int, Never>()
        let subscription = subject.sink { total.add($0) }
        for number in 0..<count { subject.send(number) }
        subscription.cancel()
      },
      Benchmark("subject → map → filter → removeDuplicates", limit: 30) {
        let subject = PassthroughSubject<Int, Never>()
        let subscription = subject.map { $0 &* 3 }.filter { $0 & 1 == 0 }.removeDuplicates().sink { total.add($0) }
        for number in 0..<count { subject.send(number) }
        subscription.cancel()
      },
      Benchmark("the same, erased after each stage", limit: 30) {
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
      Benchmark("CurrentValueSubject → sink") {
        let subject = CurrentValueSubject<Int, Never>(0)
        let subscription = subject.sink { total.add($0) }
        for number in 0..<count { subject.send(number) }
        subscription.cancel()
      },
      Benchmark("subject → 100 sinks, per value", count: 2_000) {
        let subject = PassthroughSubject<Int, Never>()
        let subscriptions = (0..<100).map { _ in subject.sink { total.add($0) } }
        for number in 0..<2_000 { subject.send(number) }
        for subscription in subscriptions { subscription.cancel() }
      },
      Benchmark("make, subscribe and cancel a chain of three", count: 20_000) {
        let subject = PassthroughSubject<Int, Never>()
        for _ in 0..<20_000 {
          subject.map { $0 &* 3 }.filter { $0 & 1 == 0 }.sink { total.add($0) }.cancel()
        }
      },
    ]
  }
}
