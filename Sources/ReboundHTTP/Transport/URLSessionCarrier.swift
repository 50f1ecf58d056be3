import Dispatch
import Foundation
import StreamSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Stops, pauses and resumes a task.
///
/// Unchecked, because the lock guards all that changes.
final class URLSessionCarrier: ExchangeCarrier, @unchecked Sendable {
  private let task: URLSessionTask
  private let lock = Lock()
  private var hasStarted = false
  private var isStopped = false

  init(_ task: URLSessionTask) {
    self.task = task
  }

  /// Sends the request, unless it was stopped before.
  func start() {
    let isWanted = lock.withLock {
      defer { hasStarted = true }
      return !isStopped && !hasStarted
    }
    if isWanted { task.resume() }
  }

  /// Answers a question of the session's, unless the task was stopped.
  ///
  /// Foundation on Linux stops the process when an answer comes after the cancel of the task. Under the lock, because the
  /// session takes answers and cancels in the order in which they are given; it only puts them into a queue.
  func answer(_ give: () -> Void) {
    lock.withLock { if !isStopped { give() } }
  }

  func stop() {
    lock.withLock { isStopped = true }
    // Foundation on Linux waits for its own queue here, and that may be what calls: it reads the request's body there.
    DispatchQueue.global().async { [task] in task.cancel() }
  }

  func pause() {
    #if canImport(Darwin)
      task.suspend()
    #endif
  }

  func resume() {
    #if canImport(Darwin)
      task.resume()
    #endif
  }
}
