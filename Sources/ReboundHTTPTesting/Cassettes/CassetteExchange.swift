import Combine
import Foundation
import Rebound
import ReboundHTTP
import StreamSupport

/// An exchange that takes place again.
final class CassetteExchange: TransportExchange, Sendable {
  private struct State: Drained {
    let steps: [CassetteSchedule.Step]
    var position = 0
    var receiver: (@Sendable (TransportEvent) -> Void)?
    /// Whether the pause before the next event is over.
    var isDue = false
    var isWaiting = false
    var loop = DrainLoop()
    var isPaused = false
    var isExpired = false
    var sent: Int64 = 0
    var received: Int64 = 0
    var timer: (any Cancellable)?
    var limit: (any Cancellable)?

    mutating func end() -> Left {
      let left = Left(receiver: receiver, timers: [timer, limit].compactMap { $0 })
      (receiver, timer, limit) = (nil, nil, nil)
      return left
    }

    mutating func takeNext() -> Next? {
      guard let receiver else { return nil }
      if isExpired {
        let failure = TransportFailure(.timeout(.total), bytesSent: sent, bytesReceived: received)
        return .tell(receiver, .failed(failure), end())
      }
      guard !isPaused, !isWaiting, position < steps.count else { return nil }
      let step = steps[position]
      if step.pause > .zero, !isDue {
        isWaiting = true
        return .wait(step.pause, step: position)
      }
      position += 1
      isDue = false
      switch step.event {
      case .sent(let count): sent = count
      case .chunk(let chunk): received += Int64(chunk.count)
      case .head, .finished, .failed: break
      }
      return .tell(receiver, step.event, step.event.isEnd ? end() : Left())
    }
  }

  private enum Next {
    case tell(@Sendable (TransportEvent) -> Void, TransportEvent, Left)
    case wait(Duration, step: Int)
  }

  private let total: Duration?
  private let time: TimeSource
  private let state: Locked<State>

  init(
    _ schedule: CassetteSchedule,
    in time: TimeSource,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) {
    total = schedule.total
    self.time = time
    state = Locked(State(steps: schedule.steps, receiver: receiver))
  }

  func begin() {
    advance()
    guard let total, !state.withLock({ $0.receiver == nil }) else { return }
    // The schedule knows when it is over; this is for one that is paused meanwhile.
    let limit = time.after(total) { self.expire() }
    let isOver = state.withLock { state in
      if state.receiver != nil { state.limit = limit }
      return state.receiver == nil
    }
    if isOver { limit.cancel() }
  }

  func cancel() {
    let left = state.withLock { $0.end() }
    left.stop()
  }

  func pause() {
    state.withLock { $0.isPaused = true }
  }

  func resume() {
    state.withLock { $0.isPaused = false }
    advance()
  }

  /// Tells all that is due, one at a time: whoever comes meanwhile leaves the rest to the one that is at it.
  private func advance() {
    state.drain { next in
      switch next {
      case .tell(let receiver, let event, let left):
        left.stop()
        receiver(event)
      case .wait(let pause, let step): wait(pause, before: step)
      }
    }
  }

  private func wait(_ pause: Duration, before step: Int) {
    let timer = time.after(pause) { self.fallDue(step) }
    let isOld = state.withLock { state in
      // It may have been done at once.
      let isOld = state.receiver == nil || !state.isWaiting || state.position != step
      if !isOld { state.timer = timer }
      return isOld
    }
    if isOld { timer.cancel() }
  }

  private func fallDue(_ step: Int) {
    let timer = state.withLock { (state) -> (any Cancellable)? in
      guard state.isWaiting, state.position == step else { return nil }
      state.isWaiting = false
      state.isDue = true
      defer { state.timer = nil }
      return state.timer
    }
    timer?.cancel()
    advance()
  }

  private func expire() {
    state.withLock { $0.isExpired = true }
    advance()
  }

  /// What is let go of at the end, with the lock open.
  private struct Left {
    var receiver: (@Sendable (TransportEvent) -> Void)?
    var timers: [any Cancellable] = []

    func stop() {
      for timer in timers { timer.cancel() }
    }
  }
}
