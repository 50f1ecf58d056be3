import Dispatch
import Foundation
import StreamSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Stops, pauses and resumes a task.
final class URLSessionCarrier: ExchangeCarrier, Sendable {
  private struct State {
    var hasStarted = false
    var isStopped = false
  }

  private let task: URLSessionTask
  private let state = Locked(State())

  init(_ task: URLSessionTask) {
    self.task = task
  }

  /// Sends the request, unless it was stopped before.
  func start() {
    let isWanted = state.withLock { state in
      defer { state.hasStarted = true }
      return !state.isStopped && !state.hasStarted
    }
    if isWanted { task.resume() }
  }

  /// Answers a question of the session's, unless the task was stopped.
  ///
  /// Foundation on Linux stops the process when an answer comes after the cancel of the task. Under the lock, because the
  /// session takes answers and cancels in the order in which they are given; it only puts them into a queue.
  func answer(_ give: () -> Void) {
    state.withLock { state in if !state.isStopped { give() } }
  }

  func stop() {
    state.withLock { $0.isStopped = true }
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
