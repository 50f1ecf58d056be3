import Combine
import Foundation

// A value that sends another as it goes, through every operator that remembers values. `scripts/test-optimised` compiles this as a
// program has it, and runs it. The optimiser may destroy what a field holds before it writes what comes in its place: whoever is
// called by that must not find the old value there once more.

// How often each value has gone; of the main thread alone, as all of this.
nonisolated(unsafe) private var gone: [Int: Int] = [:]

private final class Value {
  let number: Int
  private let whenGone: () -> Void

  init(_ number: Int, whenGone: @escaping () -> Void = {}) {
    (self.number, self.whenGone) = (number, whenGone)
  }

  deinit {
    gone[number, default: 0] += 1
    // Else a value that goes again and again would never let the program end.
    if gone[number] == 1 { whenGone() }
  }
}

private typealias Values = AnyPublisher<Value, Never>
private struct Row {
  let name: String
  /// Of 1 to 4, each in any order.
  let expected: [Int]
  let make: (PassthroughSubject<Value, Never>) -> Values
}

// Of the main thread alone, as all of this.
nonisolated(unsafe) private var complaints = 0

private func check(_ row: Row) {
  gone = [:]
  let subject = PassthroughSubject<Value, Never>()
  var received: [Int] = []
  let subscription = row.make(subject).sink { received.append($0.number) }
  subject.send(Value(1) { subject.send(Value(2)) })
  subject.send(Value(3))
  subject.send(Value(4))
  subject.send(completion: .finished)
  subscription.cancel()
  let again = gone.filter { (1...4).contains($0.key) && $0.value > 1 }
  if received.sorted() != row.expected || !again.isEmpty {
    complaints += 1
    print("\(row.name): received \(received) in place of \(row.expected); gone more than once: \(again.keys.sorted())")
  }
}

private let all = [1, 2, 3, 4]
private let rows: [Row] = [
  Row(name: "scan", expected: all) { $0.scan(Value(0)) { $1 }.eraseToAnyPublisher() },
  Row(name: "tryScan", expected: all) {
    $0.tryScan(Value(0)) { $1 }.assertNoFailure().eraseToAnyPublisher()
  },
  Row(name: "removeDuplicates", expected: all) { $0.removeDuplicates(by: ===).eraseToAnyPublisher() },
  Row(name: "tryRemoveDuplicates", expected: all) {
    $0.tryRemoveDuplicates(by: ===).assertNoFailure().eraseToAnyPublisher()
  },
  Row(name: "reduce", expected: [4]) { $0.reduce(Value(0)) { $1 }.eraseToAnyPublisher() },
  Row(name: "tryReduce", expected: [4]) {
    $0.tryReduce(Value(0)) { $1 }.assertNoFailure().eraseToAnyPublisher()
  },
  Row(name: "last", expected: [4]) { $0.last().eraseToAnyPublisher() },
  Row(name: "last(where:)", expected: [4]) { $0.last { _ in true }.eraseToAnyPublisher() },
  Row(name: "max", expected: [4]) { $0.max { $0.number < $1.number }.eraseToAnyPublisher() },
  Row(name: "min", expected: [4]) { $0.min { $0.number > $1.number }.eraseToAnyPublisher() },
  Row(name: "replaceEmpty", expected: all) { $0.replaceEmpty(with: Value(0)).eraseToAnyPublisher() },
  Row(name: "collect", expected: all) { $0.collect(1).flatMap { $0.publisher }.eraseToAnyPublisher() },
  Row(name: "combineLatest", expected: all) { $0.combineLatest(Just(0)).map(\.0).eraseToAnyPublisher() },
  Row(name: "zip", expected: all) { $0.zip((0..<10).publisher).map(\.0).eraseToAnyPublisher() },
  Row(name: "switchToLatest", expected: all) { $0.map { Just($0) }.switchToLatest().eraseToAnyPublisher() },
  Row(name: "flatMap", expected: all) { $0.flatMap { Just($0) }.eraseToAnyPublisher() },
  Row(name: "throttle", expected: all) {
    $0.throttle(for: 0, scheduler: ImmediateScheduler.shared, latest: true).eraseToAnyPublisher()
  },
  Row(name: "buffer", expected: all) {
    $0.buffer(size: 2, prefetch: .keepFull, whenFull: .dropOldest).eraseToAnyPublisher()
  },
  Row(name: "multicast to a current value", expected: [0] + all) {
    $0.multicast { CurrentValueSubject<Value, Never>(Value(0)) }.autoconnect().eraseToAnyPublisher()
  },
]

rows.forEach(check)
print("Values that send others as they go: \(rows.count) operators, \(complaints) wrong")
exit(complaints == 0 ? 0 : 1)
