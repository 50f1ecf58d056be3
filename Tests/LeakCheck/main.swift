import Combine
import Foundation
import Synchronization

// Makes, uses and ends a million subscriptions, and fails if anything of them stays: an object, or memory.
// The program of `scripts/stress --leaks`; in a process of its own, so that the memory is that of Combine alone.

/// An object whose life is counted.
final class Tracked: Sendable {
  static let living = Atomic<Int>(0)

  init() { Tracked.living.add(1, ordering: .relaxed) }
  deinit { Tracked.living.subtract(1, ordering: .relaxed) }
  func touch() {}
}

/// Subscribes in turns to every kind of chain, delivers, and ends by cancellation, by completion or by failure.
func subscribe(_ turn: Int) {
  struct Failure: Error {}
  let first = PassthroughSubject<Int, Failure>()
  let second = CurrentValueSubject<Int, Failure>(0)
  let shared = first.map { $0 + 1 }.share()
  let tracked = Tracked()
  let chain =
    switch turn % 6 {
    case 0: shared.merge(with: second).removeDuplicates().eraseToAnyPublisher()
    case 1: shared.zip(second).map(+).filter { $0 >= 0 }.eraseToAnyPublisher()
    case 2: shared.combineLatest(second).map(+).scan(0, +).eraseToAnyPublisher()
    case 3:
      shared.flatMap { _ in second }.prefix(2).buffer(size: 4, prefetch: .byRequest, whenFull: .dropOldest)
        .eraseToAnyPublisher()
    case 4:
      shared.map { _ in second }.switchToLatest().append(7).catch { _ in Just(8) }
        .setFailureType(to: Failure.self).eraseToAnyPublisher()
    default:
      shared.retry(1).receive(on: ImmediateScheduler.shared).collect(2).map(\.count).prefix(
        untilOutputFrom: second.dropFirst()
      )
      .eraseToAnyPublisher()
    }
  let cancellable = chain.sink(receiveCompletion: { _ in tracked.touch() }, receiveValue: { _ in tracked.touch() })
  first.send(turn)
  second.send(turn)
  switch turn / 6 % 3 {
  case 0: cancellable.cancel()
  case 1:
    first.send(completion: .finished)
    second.send(completion: .finished)
  default:
    first.send(completion: .failure(Failure()))
    second.send(completion: .finished)
  }
}

/// Resident memory in bytes; nil where the system does not tell.
func residentMemory() -> Int? {
  guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
  let fields = text.split(separator: " ")
  guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
  return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
}

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000
// So much is left to the allocator. A single object that stays for each subscription is at least 32 MB.
let allowance = 12 << 20

func check() -> Int32 {
  // The allocator and all lazy tables have their size after that.
  for turn in 0..<count / 10 { subscribe(turn) }
  let before = residentMemory()
  for turn in 0..<count { subscribe(turn) }
  let after = residentMemory()
  let living = Tracked.living.load(ordering: .relaxed)
  print("\(count) subscriptions: \(living) captured objects alive", terminator: "")
  guard let before, let after else {
    print(", memory unknown on this system")
    return living == 0 ? 0 : 1
  }
  print(", resident memory \(before >> 10) kB before and \(after >> 10) kB after")
  return living == 0 && after - before < allowance ? 0 : 1
}

exit(check())
