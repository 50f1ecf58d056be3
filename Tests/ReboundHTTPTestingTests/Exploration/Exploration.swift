import Foundation
import Rebound
import ReboundTesting
import StreamSupport

/// How the package's own parts are explored: `scripts/explore` asks for more runs than the ordinary tests do.
enum Exploration {
  struct Unreachable: Error {}

  private static let runs =
    ProcessInfo.processInfo.environment["REBOUND_EXPLORATION_RUNS"].flatMap { Int($0) } ?? 100

  /// Runs a program under as many schedules as are asked for.
  ///
  /// - Parameter quarter: Which quarter of them, from 0, for a program that takes so long that all threads should share it;
  ///   `nil` is all.
  static func explore(quarter: Int? = nil, _ program: @escaping @Sendable () async throws -> Void) throws {
    let count = quarter == nil ? runs : (runs + 3) / 4
    try simulate(runs: count, seed: UInt64((quarter ?? 0) * count), program)
  }

  /// Work that takes up to three seconds and may fail, as the seed decides: whole seconds, so that much falls due at once.
  static func work(failing rate: Double = 0.3) async throws {
    try await TimeSource.current.sleep(for: .seconds(Int.random(in: 0...3)))
    if Double.random(in: 0..<1) < rate { throw Unreachable() }
  }

  /// What some calls come to that begin within three seconds, about every third of them cancelled at some moment.
  static func crowd<Value: Sendable>(
    _ count: Int,
    _ call: @escaping @Sendable (Int) async throws -> Value
  ) async throws -> [Result<Value, any Error>] {
    var calls: [Task<Value, any Error>] = []
    for number in 0..<count {
      try await TimeSource.current.sleep(for: .seconds(Int.random(in: 0...1)))
      let task = Task { try await call(number) }
      calls.append(task)
      if Int.random(in: 0..<3) == 0 {
        Task {
          try await TimeSource.current.sleep(for: .seconds(Int.random(in: 0...4)))
          task.cancel()
        }
      }
    }
    var results: [Result<Value, any Error>] = []
    for call in calls { results.append(await call.result) }
    return results
  }
}

/// How many run, and how many ran at most and in all.
final class Occupancy: Sendable {
  struct Counts {
    var now = 0
    var most = 0
    var total = 0
  }

  private let state = Locked(Counts())

  var counts: Counts { state.withLock { $0 } }

  /// Another number, from 1, for what takes no time.
  func next() -> Int {
    state.withLock { counts in
      counts.total += 1
      return counts.total
    }
  }

  /// Counts while something runs; gives it its number, from 1.
  nonisolated(nonsending) func during<Value>(
    _ work: nonisolated(nonsending) (Int) async throws -> Value
  ) async rethrows -> Value {
    let number = state.withLock { counts in
      counts.now += 1
      counts.most = max(counts.most, counts.now)
      counts.total += 1
      return counts.total
    }
    defer { state.withLock { $0.now -= 1 } }
    return try await work(number)
  }
}
