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
/// Unchecked, because the lock guards all that changes. The receiver is called with the lock open, by one thread at a
/// time: others leave their event to the one that is at it.
final class OngoingExchange: TransportExchange, @unchecked Sendable {
  private let time: TimeSource
  private let deadlines: ExchangeDeadlines

  private let lock = Lock()
  private var machine: ExchangeMachine
  private var receiver: (@Sendable (TransportEvent) -> Void)?
  private var carrier: (any ExchangeCarrier)?
  private var waiting: [TransportEvent] = []
  private var isTelling = false
  private var isPaused = false

  init(
    limits: TransportLimits,
    deadlines: ExchangeDeadlines,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) {
    time = deadlines.time
    self.deadlines = deadlines
    self.receiver = receiver
    machine = ExchangeMachine(limits: limits, start: time.now)
  }

  var isOver: Bool { lock.withLock { machine.isOver } }

  /// Takes what carries it from now on, and begins to watch the clock; stops it at once if it is over already.
  func begin(on carrier: any ExchangeCarrier) {
    let (isOver, isPaused) = lock.withLock {
      if !machine.isOver { self.carrier = carrier }
      return (machine.isOver, self.isPaused)
    }
    if isOver { return carrier.stop() }
    if isPaused { carrier.pause() }
    deadlines.watch(self)
  }

  // MARK: What the carrier says

  func connected() {
    let now = time.now
    lock.withLock { machine.connected(at: now) }
  }

  func stirred() {
    let now = time.now
    lock.withLock { machine.stirred(at: now) }
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
    let left = lock.withLock {
      machine.cancel()
      let left = (carrier, receiver, waiting)
      (carrier, receiver, waiting) = (nil, nil, [])
      return left
    }
    deadlines.forget(self)
    left.0?.stop()
    // What the caller gave is released here, with the lock open.
    withExtendedLifetime(left) {}
  }

  func pause() {
    let carrier = lock.withLock {
      machine.pause()
      isPaused = true
      return self.carrier
    }
    carrier?.pause()
  }

  func resume() {
    let now = time.now
    let carrier: (any ExchangeCarrier)? = lock.withLock {
      guard isPaused else { return nil }
      machine.resume(at: now)
      isPaused = false
      return self.carrier
    }
    carrier?.resume()
    // The idle limit runs again, perhaps before the next look at the clock.
    if carrier != nil { deadlines.watch(self) }
  }

  // MARK: Limits

  /// Ends the exchange if a limit has passed; returns when to look again.
  func checkDeadline(at now: Duration) -> Duration? {
    switch lock.withLock({ machine.check(at: now) }) {
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
    let (isMine, isOver) = lock.withLock {
      guard let event = change(&machine) else { return (false, false) }
      waiting.append(event)
      if machine.isOver { swap(&ended, &carrier) }
      defer { isTelling = true }
      return (!isTelling, machine.isOver)
    }
    if isOver { deadlines.forget(self) }
    if bySelf { ended?.stop() }
    if isMine { tellWaiting() }
  }

  private func tellWaiting() {
    while let (receiver, event) = takeWaiting() { receiver(event) }
  }

  private func takeWaiting() -> ((@Sendable (TransportEvent) -> Void), TransportEvent)? {
    lock.lock()
    guard !waiting.isEmpty, let receiver else {
      isTelling = false
      lock.unlock()
      return nil
    }
    let event = waiting.removeFirst()
    // After the last event the receiver is let go of.
    if machine.isOver, waiting.isEmpty { self.receiver = nil }
    lock.unlock()
    return (receiver, event)
  }
}
