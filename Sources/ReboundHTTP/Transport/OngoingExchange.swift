import Dispatch
import Foundation
import Rebound
import StreamSupport

/// What carries an ``OngoingExchange``: a socket and its thread, a task of URLSession, a transfer of libcurl's.
///
/// Its methods are called from any thread, several at once, and also from within what the carrier itself tells the
/// exchange. None should wait.
public protocol ExchangeCarrier: AnyObject, Sendable {
  /// Stops, and lets go of all that it holds; called at most once, and not after it has finished or failed by itself.
  ///
  /// What it tells the exchange after that goes nowhere.
  func stop()
  /// Reads no more until ``resume()``, as soon as it can.
  func pause()
  /// Reads on.
  func resume()
}

/// The driver of one exchange, which keeps for a ``Transport`` what every transport promises.
///
/// It tells the receiver the events in their order and one at a time, whichever threads they come from, adds up progress,
/// keeps the limits, refuses a head whose length is in doubt, names what breaks off within the body, and tells nothing after
/// the end or a cancel. What is left to a transport is to move bytes:
///
///     let exchange = OngoingExchange(request.limits, deadlines, telling: receiver)
///     let carrier = MyCarrier(request, exchange)
///     exchange.begin(on: carrier)
///     carrier.start()
///
/// The carrier then says what happens, in any order that happens: ``connected()``, ``sent(_:)``,
/// ``receive(_:)-(ResponseHead)``, ``receive(_:)-(Data)``, and ``finish()`` or ``fail(_:)`` at the end.
///
/// All methods may be called from any thread. The exchange holds its carrier until the end or a cancel; so the carrier may
/// hold the exchange.
///
/// The receiver is called with the lock open: threads that come meanwhile leave their event to the one that is at it.
public final class OngoingExchange: TransportExchange, Sendable {
  /// In a struct, since a function that is read under a lock in a tuple gets a wrapper each time.
  private struct Telling {
    let receiver: @Sendable (TransportEvent) -> Void
    let event: TransportEvent
  }

  private struct State: Drained {
    var machine: ExchangeMachine
    var receiver: (@Sendable (TransportEvent) -> Void)?
    var carrier: (any ExchangeCarrier)?
    /// Events that the receiver has not been told yet, and who tells them.
    var waiting = Queue<TransportEvent>()
    var loop = DrainLoop()
    var isPaused = false
    /// Who tells the carrier to pause or to read on, and what it was told last.
    var pacing = DrainLoop()
    var carrierIsPaused = false
    /// Whether a pause was asked for since the carrier was told to read on: it may have asked, and paused by itself.
    var mustResume = false

    mutating func takeNext() -> Telling? {
      guard let receiver, let event = waiting.popFirst() else { return nil }
      // After the last event the receiver is let go of.
      if machine.isOver, waiting.isEmpty { self.receiver = nil }
      return Telling(receiver: receiver, event: event)
    }

    mutating func takePace() -> (carrier: any ExchangeCarrier, isPaused: Bool)? {
      guard let carrier, isPaused ? !carrierIsPaused : mustResume else { return nil }
      (carrierIsPaused, mustResume) = (isPaused, isPaused)
      return (carrier, isPaused)
    }
  }

  let time: TimeSource
  private let deadlines: ExchangeDeadlines
  private let queue: DispatchQueue?

  private let state: Locked<State>

  /// Makes an exchange that begins now.
  ///
  /// - Parameters:
  ///   - limits: What the request allows.
  ///   - knowsConnection: Whether the carrier calls ``connected()``. One that cannot tell when a connection stands leaves
  ///     the connect limit to the idle limit: nobody could say that it was kept, and a slow answer would pass for a connection
  ///     that was never made.
  ///   - deadlines: The transport's, which watches the limits.
  ///   - queue: Where the receiver is told, for a carrier whose own threads must not wait for it, in turns with whoever else
  ///     uses it; `nil`, the default, means where something happens. What waits for the queue counts towards the limits already.
  ///   - receiver: Told each event; kept until the end or a cancel, and no longer.
  public init(
    _ limits: TransportLimits,
    knowsConnection: Bool = true,
    _ deadlines: ExchangeDeadlines,
    on queue: DispatchQueue? = nil,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) {
    time = deadlines.time
    self.deadlines = deadlines
    self.queue = queue
    let machine = ExchangeMachine(limits: limits, knowsConnection: knowsConnection, start: time.now)
    state = Locked(State(machine: machine, receiver: receiver))
  }

  /// Whether nothing more is to be read at present, for a carrier that asks each time: a thread that tells it to pause may be
  /// late.
  var isPaused: Bool { state.withLock { $0.isPaused } }

  /// Whether it has ended or was cancelled: then nothing that happens is of interest any more.
  public var isOver: Bool { state.withLock { $0.machine.isOver } }

  /// Takes what carries it from now on, and begins to watch the clock; stops it at once if it is over already.
  ///
  /// Called once, before the carrier begins.
  public func begin(on carrier: any ExchangeCarrier) {
    let isOver = state.withLock { state in
      if !state.machine.isOver { state.carrier = carrier }
      return state.machine.isOver
    }
    if isOver { return carrier.stop() }
    pace()
    deadlines.watch(self)
  }

  // MARK: What the carrier says

  /// The connection stands, and the request is about to be sent; on a kept connection, too.
  public func connected() {
    let now = time.now
    state.withLock { $0.machine.connected(at: now) }
  }

  /// Something moved that is not worth telling, but is a sign of life: a line of the head, a part of the request's head.
  public func stirred() {
    let now = time.now
    state.withLock { $0.machine.stirred(at: now) }
  }

  /// So many bytes of the request's body have been sent in all so far.
  public func sent(_ total: Int64) {
    let now = time.now
    tell { $0.sent(total, at: now) }
  }

  /// The head of the answer has come whole; informational ones (1xx) are the carrier's to leave out.
  public func receive(_ head: ResponseHead) {
    let now = time.now
    tell { $0.receive(head, at: now) }
  }

  /// A part of the answer's body has come; empty ones are left out.
  ///
  /// - Returns: Whether more is wanted: `false` once it is over.
  @discardableResult
  public func receive(_ chunk: Data) -> Bool {
    let now = time.now
    tell { $0.receive(chunk, at: now) }
    return !isOver
  }

  /// The carrier is through: the answer is complete.
  ///
  /// Without a head this is a ``TransportFailure/Kind-swift.enum/reset``.
  public func finish() {
    tell(bySelf: false) { $0.finish() }
  }

  /// The carrier has given up, and need not be stopped.
  ///
  /// - Parameter failure: What went wrong; progress is filled in. A connection that was lost is a
  ///   ``TransportFailure/Kind-swift.enum/truncated`` within the body and a ``TransportFailure/Kind-swift.enum/reset``
  ///   before it, whichever of the two the carrier says.
  public func fail(_ failure: TransportFailure) {
    tell(bySelf: false) { $0.fail(failure) }
  }

  /// Something that the carrier depends on has given up, so the carrier has to be stopped.
  ///
  /// - Parameter failure: What went wrong, as in ``fail(_:)``.
  public func abort(_ failure: TransportFailure) {
    tell { $0.fail(failure) }
  }

  // MARK: What the caller says

  /// Stops the carrier, and lets go of the receiver; after the end, nothing happens.
  public func cancel() {
    let left = state.withLock { state in
      state.machine.cancel()
      let left = (state.carrier, state.receiver, state.waiting)
      (state.carrier, state.receiver, state.waiting) = (nil, nil, Queue())
      return left
    }
    deadlines.forget(self)
    left.0?.stop()
    // What the caller gave is released here, with the lock open.
    withExtendedLifetime(left) {}
  }

  /// Has the carrier read no more until ``resume()``; the idle limit waits meanwhile.
  public func pause() {
    state.withLock { state in
      state.machine.pause()
      (state.isPaused, state.mustResume) = (true, state.carrier != nil)
    }
    pace()
  }

  /// Has the carrier read on.
  public func resume() {
    let now = time.now
    let isRunning = state.withLock { state in
      guard state.isPaused else { return false }
      state.machine.resume(at: now)
      state.isPaused = false
      return state.carrier != nil
    }
    pace()
    // The idle limit runs again, perhaps before the next look at the clock.
    if isRunning { deadlines.watch(self) }
  }

  /// Tells the carrier what holds now, one thread at a time: a pause that is overtaken by its resume would last for ever.
  private func pace() {
    guard state.withLock({ $0.pacing.enter() }) else { return }
    while let (carrier, isPaused) = state.withLock({ $0.pacing.next($0.takePace()) }) {
      if isPaused { carrier.pause() } else { carrier.resume() }
    }
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
    let (next, isMine, isOver) = state.withLock { state -> (Telling?, Bool, Bool) in
      guard let event = change(&state.machine) else { return (nil, false, false) }
      let isOver = state.machine.isOver
      if isOver { swap(&ended, &state.carrier) }
      let isMine = state.loop.enter()
      guard isMine, queue == nil else {
        state.waiting.append(event)
        return (nil, isMine, isOver)
      }
      // Nobody is at it, so that nothing else waits.
      guard let receiver = isOver ? state.receiver.take() : state.receiver else {
        state.loop.leave()
        return (nil, false, isOver)
      }
      return (Telling(receiver: receiver, event: event), true, isOver)
    }
    if isOver { deadlines.forget(self) }
    if bySelf { ended?.stop() }
    if let next {
      next.receiver(next.event)
      state.drainEntered { $0.receiver($0.event) }
    } else if let queue, isMine {
      queue.async { self.tellWaiting(on: queue) }
    }
  }

  private func tellWaiting(on queue: DispatchQueue) {
    for _ in 0..<OngoingExchange.eventsPerTurn {
      guard let next = state.withLock({ $0.loop.next($0.takeNext()) }) else { return }
      next.receiver(next.event)
    }
    queue.async { self.tellWaiting(on: queue) }
  }

  /// How many events the receiver is told before whoever else uses the queue has a turn: an answer that comes as fast as it is
  /// told would keep the queue for ever.
  private static let eventsPerTurn = 16
}
