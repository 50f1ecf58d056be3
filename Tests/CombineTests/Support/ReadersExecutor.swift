import Dispatch

/// Runs tasks one after the other, each until it waits.
final class ReadersExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "readers")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Returns when all tasks wait.
  func waitUntilIdle() {
    queue.sync {}
  }
}
