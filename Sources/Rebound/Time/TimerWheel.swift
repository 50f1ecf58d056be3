import Combine
import Dispatch
import StreamSupport

/// All timers of the system's time, behind one timer of Dispatch.
///
/// To set a timer and to cancel it takes a few list operations. The timer of Dispatch is armed only if the new one is due
/// before it, or if it is overdue itself; one that is cancelled is left to it, and it then finds nothing to do.
///
/// A hierarchical timing wheel (Varghese and Lauck, 1987): six levels of 64 slots, a tick of one millisecond. A moment is
/// rounded up to a tick, so no timer fires early.
///
/// - Complexity: To set and to cancel is O(1); each timer moves down a level at most five times.
@usableFromInline
final class TimerWheel: Sendable {
  static let system = TimerWheel()

  /// Where a timer rings.
  enum Place { case here, elsewhere }

  /// Whom a timer rings for.
  enum Bell {
    /// It was cancelled, or has rung.
    case none
    case action(@Sendable () -> Void)
    /// As an action, without the memory that a closure needs.
    case target(any TimerTarget, Int)
  }

  private struct State {
    var wheel = Wheel()
    var alarm = Alarm()
  }

  private let state = Locked(State())
  /// Unsafe only by its type: Dispatch takes calls to a source from any thread.
  nonisolated(unsafe) private let source: any DispatchSourceTimer
  private let queue = DispatchQueue(label: "Rebound.timers", qos: .userInteractive)
  private let actions = DispatchQueue.global(qos: .userInitiated)

  private init() {
    source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
    source.setEventHandler { [unowned self] in self.fire() }
    source.activate()
  }

  func schedule(at moment: Duration, _ place: Place, _ bell: Bell) -> WheelTimer {
    let due = Wheel.tick(notBefore: moment)
    let timer = WheelTimer(due: due, place: place, bell: bell)
    state.withLock { state in
      state.wheel.insert(timer)
      guard state.alarm.isToBeArmed(for: due, now: Wheel.tick(at: TimeSource.systemNow)) else { return }
      // With the lock held, or an earlier moment could be overwritten by a later one.
      arm(state.alarm.tick)
    }
    return timer
  }

  func cancel(_ timer: WheelTimer) {
    let bell = state.withLock { state in
      state.wheel.remove(timer)
      return timer.takeBell()
    }
    // Released with the lock open.
    withExtendedLifetime(bell) {}
  }

  private func arm(_ due: UInt64) {
    let (now, base) = (TimeSource.systemNow, DispatchTime.now().uptimeNanoseconds)
    let wait = max(Duration.milliseconds(Int64(due)) - now, .zero)
    let (seconds, attoseconds) = wait.components
    let nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000) + 1
    source.schedule(deadline: DispatchTime(uptimeNanoseconds: base + nanoseconds), leeway: .nanoseconds(0))
  }

  private func fire() {
    let now = Wheel.tick(at: TimeSource.systemNow)
    let due = state.withLock { state in
      let due = state.wheel.advance(to: now)
      state.alarm.tick = state.wheel.nextTick ?? .max
      if state.alarm.tick < .max { arm(state.alarm.tick) }
      return due
    }
    for timer in due.sorted(by: { $0.due < $1.due }) {
      switch (state.withLock { _ in timer.takeBell() }, timer.place) {
      case (.none, _): break
      case (.action(let action), .here): action()
      case (.action(let action), .elsewhere): actions.async(execute: action)
      case (.target(let target, let number), .here): target.timerRang(number)
      case (.target(let target, let number), .elsewhere): actions.async { target.timerRang(number) }
      }
    }
  }
}

/// For which tick the timer of Dispatch is armed.
///
/// While the system sleeps that timer stands still, and the clock of the wheel goes on. So after a night it may have as long to
/// go as in the evening, and whatever is due behind it would wait for it.
package struct Alarm {
  /// How far behind it is taken for one that has stood still, and not for one that is about to ring.
  package static let patience: UInt64 = 1_000

  /// The largest number for none.
  package var tick = UInt64.max

  package init() {}

  /// Takes a timer that is due at a tick.
  ///
  /// - Returns: Whether the timer of Dispatch is to be armed for ``tick``.
  package mutating func isToBeArmed(for due: UInt64, now: @autoclosure () -> UInt64) -> Bool {
    guard due >= tick else {
      tick = due
      return true
    }
    return now() > tick + Self.patience
  }
}

/// One timer of the wheel.
///
/// Unchecked, because the wheel's lock guards what changes.
@usableFromInline
package final class WheelTimer: Cancellable, @unchecked Sendable {
  package let due: UInt64
  fileprivate let place: TimerWheel.Place
  @exclusivity(unchecked) private var bell: TimerWheel.Bell
  /// In which list it is, and its neighbours there.
  @exclusivity(unchecked) fileprivate var slot = -1
  @exclusivity(unchecked) fileprivate var next: WheelTimer?
  /// Unmanaged, because the one before it, or the slot, holds this.
  @exclusivity(unchecked) fileprivate unowned(unsafe) var previous: WheelTimer?

  fileprivate init(due: UInt64, place: TimerWheel.Place, bell: TimerWheel.Bell) {
    self.due = due
    self.place = place
    self.bell = bell
  }

  /// For a wheel of one's own.
  package convenience init(due: UInt64) {
    self.init(due: due, place: .here, bell: .none)
  }

  /// With the wheel's lock held.
  fileprivate func takeBell() -> TimerWheel.Bell {
    let before = bell
    bell = .none
    return before
  }

  /// Stops it; nothing happens if it has fired.
  @usableFromInline
  package func cancel() {
    TimerWheel.system.cancel(self)
  }
}

/// The slots of the wheel; each is a list, the latest first.
package struct Wheel {
  private static let levels = 6
  private static let bits: UInt64 = 6

  /// The tick up to which all is done.
  private var current: UInt64 = 0
  private var slots = [WheelTimer?](repeating: nil, count: levels * 64)
  /// Which slots of a level hold anything, a bit each.
  private var occupied = [UInt64](repeating: 0, count: levels)

  package init() {}

  /// The last tick that has come by a moment; the first of all if the moment is before it.
  package static func tick(at moment: Duration) -> UInt64 { ticks(until: moment).whole }

  /// The first tick that is not before a moment; of moments that no delay reaches, one that none comes to.
  package static func tick(notBefore moment: Duration) -> UInt64 {
    let (whole, isExact) = ticks(until: moment)
    return isExact ? whole : whole + 1
  }

  /// How many ticks have come by a moment, and whether it is the last one's.
  ///
  /// A tick is 2¹⁵ · 5¹⁵ attoseconds. A shift by the one and a division by the other is an instruction each; to divide by both
  /// at once takes dozens.
  private static func ticks(until moment: Duration) -> (whole: UInt64, isExact: Bool) {
    // No time at all, or twice as much as the longest delay, in milliseconds.
    guard moment._high >= 0 else { return (0, true) }
    let (high, divisor, farthest) = (UInt64(moment._high), UInt64(30_517_578_125), UInt64(2_000_000_000_000))
    guard high >> 15 < divisor else { return (farthest, true) }
    let (whole, rest) = divisor.dividingFullWidth((high >> 15, high << 49 | moment._low >> 15))
    return whole < farthest ? (whole, rest == 0 && moment._low & 0x7FFF == 0) : (farthest, true)
  }

  package mutating func insert(_ timer: WheelTimer) {
    // What is due already goes into the next tick, so that there is one way out.
    let tick = max(timer.due, current + 1)
    // The highest bit in which the moment differs from the present says how far away it is.
    let difference = (tick ^ current) | 63
    let level = min((63 - difference.leadingZeroBitCount) / Int(Self.bits), Self.levels - 1)
    let index = Int((tick >> (UInt64(level) * Self.bits)) & 63)
    let slot = level * 64 + index
    timer.slot = slot
    timer.next = slots[slot]
    timer.next?.previous = timer
    timer.previous = nil
    slots[slot] = timer
    occupied[level] |= 1 << UInt64(index)
  }

  package mutating func remove(_ timer: WheelTimer) {
    let slot = timer.slot
    guard slot >= 0 else { return }
    timer.slot = -1
    let next = timer.next
    timer.next = nil
    next?.previous = timer.previous
    if let previous = timer.previous {
      previous.next = next
    } else {
      slots[slot] = next
      if next == nil { occupied[slot / 64] &= ~(1 << UInt64(slot % 64)) }
    }
    timer.previous = nil
  }

  /// The tick at which the next slot is to be looked at; `nil` if nothing waits.
  package var nextTick: UInt64? {
    var nearest: UInt64?
    for level in 0..<Self.levels where occupied[level] != 0 {
      let shift = UInt64(level) * Self.bits
      let position = (current >> shift) & 63
      // The bits turned so that the slot after the present is the lowest one: that of the present is a whole turn away.
      let after = (position + 1) & 63
      let turned = occupied[level] >> after | (after == 0 ? 0 : occupied[level] << (64 - after))
      let distance = UInt64(turned.trailingZeroBitCount) + 1
      let tick = ((current >> shift) + distance) << shift
      nearest = Swift.min(nearest ?? .max, tick)
    }
    return nearest
  }

  /// Takes out all that is due by this tick.
  package mutating func advance(to tick: UInt64) -> [WheelTimer] {
    var due: [WheelTimer] = []
    while let next = nextTick, next <= tick {
      current = next
      for level in 0..<Self.levels {
        let shift = UInt64(level) * Self.bits
        // Only a level whose lower digits are all zero has a slot that begins at this tick.
        if level > 0, next & ((1 << shift) - 1) != 0 { break }
        let index = Int((next >> shift) & 63)
        guard occupied[level] & (1 << UInt64(index)) != 0 else { continue }
        var timer = slots[level * 64 + index]
        slots[level * 64 + index] = nil
        occupied[level] &= ~(1 << UInt64(index))
        while let here = timer {
          timer = here.next
          (here.next, here.previous, here.slot) = (nil, nil, -1)
          if here.due <= next { due.append(here) } else { insert(here) }
        }
      }
    }
    current = max(current, tick)
    return due
  }
}
