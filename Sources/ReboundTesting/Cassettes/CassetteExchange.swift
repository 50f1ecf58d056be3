import Combine
import Foundation
import Rebound
import ReboundHTTP
import StreamSupport

/// An exchange that takes place again.
///
/// Unchecked, because the lock guards all that changes; no foreign code runs under it.
final class CassetteExchange: TransportExchange, @unchecked Sendable {
  private enum Next {
    case tell(@Sendable (TransportEvent) -> Void, TransportEvent)
    case wait(Duration, step: Int)
    case nothing
  }

  private let steps: [CassetteSchedule.Step]
  private let total: Duration?
  private let time: TimeSource
  private let lock = Lock()
  private var position = 0
  private var receiver: (@Sendable (TransportEvent) -> Void)?
  /// Whether the pause before the next event is over.
  private var isDue = false
  private var isWaiting = false
  private var isTelling = false
  private var isPaused = false
  private var isExpired = false
  private var sent: Int64 = 0
  private var received: Int64 = 0
  private var timer: (any Cancellable)?
  private var limit: (any Cancellable)?

  init(
    _ schedule: CassetteSchedule,
    in time: TimeSource,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) {
    steps = schedule.steps
    total = schedule.total
    self.time = time
    self.receiver = receiver
  }

  func begin() {
    advance()
    guard let total, !lock.withLock({ receiver == nil }) else { return }
    // The schedule knows when it is over; this is for one that is paused meanwhile.
    let limit = time.after(total) { self.expire() }
    let isOver = lock.withLock {
      if receiver != nil { self.limit = limit }
      return receiver == nil
    }
    if isOver { limit.cancel() }
  }

  func cancel() {
    let left = lock.withLock { end() }
    left.stop()
  }

  func pause() {
    lock.withLock { isPaused = true }
  }

  func resume() {
    lock.withLock { isPaused = false }
    advance()
  }

  /// Tells all that is due, one at a time: whoever comes meanwhile leaves the rest to the one that is at it.
  private func advance() {
    let isMine = lock.withLock {
      defer { isTelling = true }
      return !isTelling
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
    let (next, left) = lock.withLock { () -> (Next, Left) in
      guard let receiver else {
        isTelling = false
        return (.nothing, Left())
      }
      if isExpired {
        let failure = TransportFailure(.timeout(.total), bytesSent: sent, bytesReceived: received)
        return (.tell(receiver, .failed(failure)), end())
      }
      guard !isPaused, !isWaiting, position < steps.count else {
        isTelling = false
        return (.nothing, Left())
      }
      let step = steps[position]
      if step.pause > .zero, !isDue {
        isWaiting = true
        isTelling = false
        return (.wait(step.pause, step: position), Left())
      }
      position += 1
      isDue = false
      switch step.event {
      case .sent(let count): sent = count
      case .chunk(let chunk): received += Int64(chunk.count)
      case .head, .finished, .failed: break
      }
      return (.tell(receiver, step.event), step.event.isEnd ? end() : Left())
    }
    left.stop()
    return next
  }

  private func wait(_ pause: Duration, before step: Int) {
    let timer = time.after(pause) { self.fallDue(step) }
    let isOld = lock.withLock {
      // It may have been done at once.
      let isOld = receiver == nil || !isWaiting || position != step
      if !isOld { self.timer = timer }
      return isOld
    }
    if isOld { timer.cancel() }
  }

  private func fallDue(_ step: Int) {
    let timer = lock.withLock { () -> (any Cancellable)? in
      guard isWaiting, position == step else { return nil }
      isWaiting = false
      isDue = true
      defer { self.timer = nil }
      return self.timer
    }
    timer?.cancel()
    advance()
  }

  private func expire() {
    lock.withLock { isExpired = true }
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

  private func end() -> Left {
    let left = Left(receiver: receiver, timers: [timer, limit].compactMap { $0 })
    (receiver, timer, limit) = (nil, nil, nil)
    return left
  }
}
