import Dispatch
import Foundation
import StreamSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Stops, pauses and resumes a task.
final class URLSessionCarrier: ExchangeCarrier, Sendable {
  private struct State {
    var task: URLSessionTask?
    var isStopped = false
    var isPaused = false
  }

  private let queue: DispatchQueue
  private let state = Locked(State())

  /// - Parameter queue: Where the session's tasks are cancelled.
  init(_ queue: DispatchQueue) {
    self.queue = queue
  }

  /// Sends the request, unless it was stopped before.
  func start(_ task: URLSessionTask) {
    let (isWanted, isPaused) = state.withLock { state in
      state.task = task
      return (!state.isStopped, state.isPaused)
    }
    guard isWanted else { return task.cancel() }
    task.resume()
    if isPaused { pause() }
  }

  /// Answers a question of the session's, unless the task was stopped.
  ///
  /// Foundation on Linux stops the process when an answer comes after the cancel of the task. Under the lock, because the
  /// session takes answers and cancels in the order in which they are given; it only puts them into a queue.
  func answer(_ give: () -> Void) {
    state.withLock { state in if !state.isStopped { give() } }
  }

  func stop() {
    let task = state.withLock { state in
      state.isStopped = true
      return state.task
    }
    // Without one, whoever makes it finds that it is not wanted any more.
    if let task { queue.async { task.cancel() } }
  }

  func pause() {
    #if canImport(Darwin)
      state.withLock { state in
        state.isPaused = true
        return state.task
      }?.suspend()
    #endif
  }

  func resume() {
    #if canImport(Darwin)
      state.withLock { state in
        state.isPaused = false
        return state.task
      }?.resume()
    #endif
  }
}
