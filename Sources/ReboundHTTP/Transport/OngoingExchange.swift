import Foundation
import Rebound
import StreamSupport

/// What an ``OngoingExchange`` needs from the transport that carries it.
protocol ExchangeCarrier: AnyObject, Sendable {
  /// Stops, and tells nothing more.
  func stop()
  /// Reads no more until ``resume()``.
  func pause()
  /// Reads on.
  func resume()
}

/// One exchange on any transport: tells its receiver the events one at a time, whichever threads they come from, and
/// stops its carrier when a limit has passed or nobody wants to know any more.
///
/// The receiver is called with the lock open: threads that come meanwhile leave their event to the one that is at it.
final class OngoingExchange: TransportExchange, Sendable {
  private struct State {
    var machine: ExchangeMachine
    var receiver: (@Sendable (TransportEvent) -> Void)?
    var carrier: (any ExchangeCarrier)?
    var waiting: [TransportEvent] = []
    var isTelling = false
    var isPaused = false
  }

  private let time: TimeSource
  private let deadlines: ExchangeDeadlines

  private let state: Locked<State>

  init(
    limits: TransportLimits,
    deadlines: ExchangeDeadlines,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) {
    time = deadlines.time
    self.deadlines = deadlines
    state = Locked(State(machine: ExchangeMachine(limits: limits, start: time.now), receiver: receiver))
  }

  var isOver: Bool { state.withLock { $0.machine.isOver } }

  /// Takes what carries it from now on, and begins to watch the clock; stops it at once if it is over already.
  func begin(on carrier: any ExchangeCarrier) {
    let (isOver, isPaused) = state.withLock { state in
      if !state.machine.isOver { state.carrier = carrier }
      return (state.machine.isOver, state.isPaused)
    }
    if isOver { return carrier.stop() }
    if isPaused { carrier.pause() }
    deadlines.watch(self)
  }

  // MARK: What the carrier says

  func connected() {
    let now = time.now
    state.withLock { $0.machine.connected(at: now) }
  }

  func stirred() {
    let now = time.now
    state.withLock { $0.machine.stirred(at: now) }
  }

  func sent(_ total: Int64) {
    let now = time.now
    tell { $0.sent(total, at: now) }
  }

  func receive(_ head: ResponseHead) {
    let now = time.now
    tell { $0.receive(head, at: now) }
  }

  /// Says whether more is wanted.
  @discardableResult
  func receive(_ chunk: Data) -> Bool {
    let now = time.now
    tell { $0.receive(chunk, at: now) }
    return !isOver
  }

  /// The carrier is through.
  func finish() {
    tell(bySelf: false) { $0.finish() }
  }

  /// The carrier has given up.
  func fail(_ failure: TransportFailure) {
    tell(bySelf: false) { $0.fail(failure) }
  }

  /// Something that the carrier depends on has given up, so the carrier has to be stopped.
  func abort(_ failure: TransportFailure) {
    tell { $0.fail(failure) }
  }

  // MARK: What the caller says

  func cancel() {
    let left = state.withLock { state in
      state.machine.cancel()
      let left = (state.carrier, state.receiver, state.waiting)
      (state.carrier, state.receiver, state.waiting) = (nil, nil, [])
      return left
    }
    deadlines.forget(self)
    left.0?.stop()
    // What the caller gave is released here, with the lock open.
    withExtendedLifetime(left) {}
  }

  func pause() {
    let carrier = state.withLock { state in
      state.machine.pause()
      state.isPaused = true
      return state.carrier
    }
    carrier?.pause()
  }

  func resume() {
    let now = time.now
    let carrier: (any ExchangeCarrier)? = state.withLock { state in
      guard state.isPaused else { return nil }
      state.machine.resume(at: now)
      state.isPaused = false
      return state.carrier
    }
    carrier?.resume()
    // The idle limit runs again, perhaps before the next look at the clock.
    if carrier != nil { deadlines.watch(self) }
  }

  // MARK: Limits

  /// Ends the exchange if a limit has passed; returns when to look again.
  func checkDeadline(at now: Duration) -> Duration? {
    switch state.withLock({ $0.machine.check(at: now) }) {
    case .again(let due): return due
    case .expired(let phase):
      tell { $0.fail(TransportFailure(.timeout(phase))) }
      return nil
    }
  }

  // MARK: Telling

  /// - Parameter bySelf: Whether an end is this object's doing, so that the carrier has to be stopped.
  private func tell(bySelf: Bool = true, _ change: (inout ExchangeMachine) -> TransportEvent?) {
    var ended: (any ExchangeCarrier)?
    let (isMine, isOver) = state.withLock { state in
      guard let event = change(&state.machine) else { return (false, false) }
      state.waiting.append(event)
      if state.machine.isOver { swap(&ended, &state.carrier) }
      defer { state.isTelling = true }
      return (!state.isTelling, state.machine.isOver)
    }
    if isOver { deadlines.forget(self) }
    if bySelf { ended?.stop() }
    if isMine { tellWaiting() }
  }

  private func tellWaiting() {
    while let (receiver, event) = takeWaiting() { receiver(event) }
  }

  private func takeWaiting() -> ((@Sendable (TransportEvent) -> Void), TransportEvent)? {
    state.withLock { state in
      guard !state.waiting.isEmpty, let receiver = state.receiver else {
        state.isTelling = false
        return nil
      }
      let event = state.waiting.removeFirst()
      // After the last event the receiver is let go of.
      if state.machine.isOver, state.waiting.isEmpty { state.receiver = nil }
      return (receiver, event)
    }
  }
}
