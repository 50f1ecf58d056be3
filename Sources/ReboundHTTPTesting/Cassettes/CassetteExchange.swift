import Combine
import Foundation
import Rebound
import ReboundHTTP
import StreamSupport

/// An exchange that takes place again.
final class CassetteExchange: TransportExchange, Sendable {
  private struct State {
    var position = 0
    var receiver: (@Sendable (TransportEvent) -> Void)?
    /// Whether the pause before the next event is over.
    var isDue = false
    var isWaiting = false
    var isTelling = false
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
  }

  private enum Next {
    case tell(@Sendable (TransportEvent) -> Void, TransportEvent)
    case wait(Duration, step: Int)
    case nothing
  }

  private let steps: [CassetteSchedule.Step]
  private let total: Duration?
  private let time: TimeSource
  private let state: Locked<State>

  init(
    _ schedule: CassetteSchedule,
    in time: TimeSource,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) {
    steps = schedule.steps
    total = schedule.total
    self.time = time
    state = Locked(State(receiver: receiver))
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
    let isMine = state.withLock { state in
      defer { state.isTelling = true }
      return !state.isTelling
    }
    guard isMine else { return }
    while true {
      switch next() {
      case .tell(let receiver, let event): receiver(event)
      case .wait(let pause, let step): return wait(pause, before: step)
      case .nothing: return
      }
    }
  }

  private func next() -> Next {
    let (next, left) = state.withLock { (state) -> (Next, Left) in
      guard let receiver = state.receiver else {
        state.isTelling = false
        return (.nothing, Left())
      }
      if state.isExpired {
        let failure = TransportFailure(.timeout(.total), bytesSent: state.sent, bytesReceived: state.received)
        return (.tell(receiver, .failed(failure)), state.end())
      }
      guard !state.isPaused, !state.isWaiting, state.position < steps.count else {
        state.isTelling = false
        return (.nothing, Left())
      }
      let step = steps[state.position]
      if step.pause > .zero, !state.isDue {
        state.isWaiting = true
        state.isTelling = false
        return (.wait(step.pause, step: state.position), Left())
      }
      state.position += 1
      state.isDue = false
      switch step.event {
      case .sent(let count): state.sent = count
      case .chunk(let chunk): state.received += Int64(chunk.count)
      case .head, .finished, .failed: break
      }
      return (.tell(receiver, step.event), step.event.isEnd ? state.end() : Left())
    }
    left.stop()
    return next
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
