import Rebound
import StreamSupport

/// Carries an exchange by an asynchronous function: for a network whose client has `async` functions.
///
///     let exchange = OngoingExchange(request.limits, knowsConnection: false, deadlines, telling: receiver)
///     exchange.carry { carrier in
///       do {
///         let answer = try await client.send(request)
///         exchange.receive(answer.head)
///         for try await piece in answer.pieces {
///           await carrier.untilResumed()
///           guard exchange.receive(piece) else { return }
///         }
///         exchange.finish()
///       } catch {
///         exchange.fail(TransportFailure(classifying: error) ?? TransportFailure(.other, underlying: error))
///       }
///     }
///
/// The function runs in a task of its own, which is cancelled when the exchange is. Its `TimeSource.current` is the time by which
/// the exchange's limits are measured.
public final class TaskCarrier: ExchangeCarrier {
  private struct State {
    var task: Task<Void, Never>?
    var (isStopped, isPaused) = (false, false)
    var resumption: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  fileprivate init() {}

  /// Waits while the exchange is paused; returns at once if it is not, or if it is over.
  ///
  /// Called by the function alone, not by several tasks at a time.
  public func untilResumed() async {
    await withCheckedContinuation { continuation in
      let waits = state.withLock { state in
        let waits = state.isPaused && !state.isStopped
        if waits { state.resumption = continuation }
        return waits
      }
      if !waits { continuation.resume() }
    }
  }

  fileprivate func run(_ function: @escaping @Sendable (TaskCarrier) async -> Void) {
    let task = Task { await function(self) }
    let isStopped = state.withLock { state in
      // What has stopped has no use for it, and would keep it.
      if !state.isStopped { state.task = task }
      return state.isStopped
    }
    if isStopped { task.cancel() }
  }

  /// Cancels the task, and lets go of a wait.
  public func stop() {
    let (task, resumption) = state.withLock { state in
      state.isStopped = true
      return (state.task.take(), state.resumption.take())
    }
    task?.cancel()
    resumption?.resume()
  }

  /// Has ``untilResumed()`` wait.
  public func pause() { state.withLock { $0.isPaused = true } }

  /// Lets the function go on.
  public func resume() {
    let resumption = state.withLock { state in
      state.isPaused = false
      return state.resumption.take()
    }
    resumption?.resume()
  }
}

extension OngoingExchange {
  /// Begins, and has an asynchronous function carry this; see ``TaskCarrier``.
  ///
  /// Called once, in the place of ``begin(on:)``. If it is over already, the function is not called.
  ///
  /// - Parameter function: Moves the bytes, and says what happens. It may hold the exchange.
  public func carry(by function: @escaping @Sendable (TaskCarrier) async -> Void) {
    let carrier = TaskCarrier()
    begin(on: carrier)
    guard !isOver else { return }
    // An attempt may begin anywhere: behind a pause, on a timer.
    TimeSource.$current.withValue(time) { carrier.run(function) }
  }
}
