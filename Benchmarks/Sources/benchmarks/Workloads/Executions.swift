import Combine
import Dispatch

extension Benchmark {
  /// Calls of asynchronous functions, one after the other in one task.
  static func executions(
    _ name: String,
    count: Int,
    limit: Double? = nil,
    allocationGoal: Double? = nil,
    ratioLimit: (other: String, most: Double)? = nil,
    tolerance: Double = 0.01,
    _ execute: @escaping @Sendable (_ count: Int) async throws -> Void
  ) -> Benchmark {
    Benchmark(
      name,
      count: count,
      limit: limit,
      allocationGoal: allocationGoal,
      ratioLimit: ratioLimit,
      hasBacklog: true,
      tolerance: tolerance
    ) { count in
      let done = DispatchSemaphore(value: 0)
      Task {
        do {
          try await execute(count)
        } catch {
          refuse(error)
        }
        done.signal()
      }
      done.wait()
    }
  }
}

/// For sinks of publishers: captures nothing, which would need memory of its own.
func refuseFailure<Failure: Error>(_ completion: Subscribers.Completion<Failure>) {
  if case .failure(let error) = completion { refuse(error) }
}

/// Ends the run: nothing here is to fail, and what a failure costs is not what the row says.
private func refuse(_ error: any Error) -> Never {
  // A row that leaves its failures out would be too good.
  fatalError("a benchmark failed: \(error)")
}
