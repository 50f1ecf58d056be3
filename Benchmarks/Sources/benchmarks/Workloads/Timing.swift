import Combine
import Foundation

extension Workloads {
  /// Values that change threads, or wait.
  static func timing(_ total: Total) -> [Benchmark] {
    [
      Benchmark("receive(on: queue)", count: 20_000, prototype: 272, hasBacklog: true) { count in
        let queue = DispatchQueue(label: "benchmark")
        let subject = PassthroughSubject<Int, Never>()
        let done = DispatchSemaphore(value: 0)
        let subscription = subject.receive(on: queue)
          .sink(receiveCompletion: { _ in done.signal() }, receiveValue: { total.add($0) })
        for number in 0..<count { subject.send(number) }
        subject.send(completion: .finished)
        done.wait()
        // What the queue still lets go of belongs to this run.
        queue.sync {}
        subscription.cancel()
      },
      Benchmark("debounce, never due", prototype: 43) { count in
        let queue = DispatchQueue(label: "benchmark")
        let subject = PassthroughSubject<Int, Never>()
        let subscription = subject.debounce(for: .seconds(60), scheduler: queue).sink { total.add($0) }
        for number in 0..<count { subject.send(number) }
        subscription.cancel()
        queue.sync {}
      },
    ]
  }
}
