import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("TimerWheel")
struct TimerWheelTests {
  /// A moment on each of the six levels, and some beyond the last.
  static let spans: [UInt64] = (0...6).flatMap { level -> [UInt64] in
    let turn = UInt64(1) << (6 * level)
    return [turn - 1, turn, turn + 1, 2 * turn + 5, 63 * turn, 64 * turn]
  }

  @Test(
    "a moment is rounded up to a tick, and the present down",
    arguments: [0, 1, 999_999, 1_000_000, 1_000_001, 5_000_000]
  )
  func rounding(nanoseconds: Int64) {
    let moment = Duration.nanoseconds(nanoseconds)
    let (before, after) = (Wheel.tick(at: moment), Wheel.tick(notBefore: moment))
    #expect(Duration.milliseconds(Int64(before)) <= moment)
    #expect(Duration.milliseconds(Int64(after)) >= moment)
    expectEqual(after - before, nanoseconds % 1_000_000 == 0 ? 0 : 1)
  }

  @Test("a moment before the first tick is the first tick: no clock stops the process")
  func beforeTheFirst() {
    for moment in [Duration.nanoseconds(-1), .seconds(-1), .seconds(Int64.min)] {
      expectEqual(Wheel.tick(at: moment), 0)
      expectEqual(Wheel.tick(notBefore: moment), 0)
    }
  }

  @Test("a moment that no delay reaches has a tick, too: no policy stops the process")
  func beyondAll() {
    for moment in [Duration.seconds(1e15), Duration.seconds(Int64.max)] {
      #expect(Wheel.tick(notBefore: moment) > Wheel.tick(notBefore: .seconds(1_000_000_000)))
    }
  }

  @Test(
    "a timer on any level comes at its tick: not the tick before",
    arguments: spans,
    [0, 1, 63, 64, 4_095, 1 << 36] as [UInt64]
  )
  func everyLevel(span: UInt64, start: UInt64) {
    var wheel = Wheel()
    #expect(wheel.advance(to: start).isEmpty)
    let timer = WheelTimer(due: start + span)
    wheel.insert(timer)
    let due = max(start + span, start + 1)
    #expect(wheel.advance(to: due - 1).isEmpty)
    expectEqual(wheel.advance(to: due).map(\.due), [timer.due])
    #expect(wheel.nextTick == nil)
  }

  @Test("the timer of the system is armed for what is due first")
  func alarm() {
    var alarm = Alarm()
    let armed = [500, 700, 300].map { alarm.isToBeArmed(for: $0, now: 0) }
    expectEqual(armed, [true, false, true])
    expectEqual(alarm.tick, 300)
  }

  @Test("a timer of the system that has stood still while the system slept keeps nobody waiting who comes after that")
  func alarmAfterSleep() {
    var alarm = Alarm()
    _ = alarm.isToBeArmed(for: 60_000, now: 0)
    // A little late, it may be about to ring, and is left to that.
    let late = alarm.isToBeArmed(for: 70_000, now: 60_000 + Alarm.patience)
    let overdue = alarm.isToBeArmed(for: 3_600_050, now: 3_600_000)
    expectEqual([late, overdue], [false, true])
    expectEqual(alarm.tick, 60_000)
  }

  @Test("a timer beyond the last turn does not hide a nearer one on the same level")
  func beyondTheLastTurn() {
    var wheel = Wheel()
    // The first lies in the slot of the present, a whole turn away.
    wheel.insert(WheelTimer(due: 64 << 30))
    wheel.insert(WheelTimer(due: 1 << 30))
    expectEqual(wheel.nextTick, 1 << 30)
    expectEqual(wheel.advance(to: 1 << 30).map(\.due), [1 << 30])
    expectEqual(wheel.advance(to: 64 << 30).map(\.due), [64 << 30])
  }

  @Test("one that was taken out does not come, on any level; to take it out twice does nothing", arguments: spans)
  func removal(span: UInt64) {
    var wheel = Wheel()
    let timers = (0..<3).map { _ in WheelTimer(due: span) }
    for timer in timers { wheel.insert(timer) }
    // The middle, the first and the last of the list.
    for (count, index) in [1, 2, 0].enumerated() {
      wheel.remove(timers[index])
      wheel.remove(timers[index])
      expectEqual(wheel.nextTick == nil, count == 2)
    }
    #expect(wheel.advance(to: span + 1).isEmpty)
  }

  @Test("one that has come can be taken out: nothing happens")
  func removalAfterwards() {
    var wheel = Wheel()
    let (first, second) = (WheelTimer(due: 1), WheelTimer(due: 2))
    wheel.insert(first)
    wheel.insert(second)
    expectEqual(wheel.advance(to: 1).count, 1)
    wheel.remove(first)
    expectEqual(wheel.advance(to: 2).map(\.due), [2])
  }

  @Test("is what a sorted list is, whatever is set, cancelled and passed", arguments: 0..<200)
  func model(seed: UInt64) {
    var random = SplitMix(state: seed)
    var wheel = Wheel()
    var present: UInt64 = 0
    // Due when, and which timer: what is due already comes at the next tick.
    var model: [(due: UInt64, timer: WheelTimer)] = []
    for _ in 0..<300 {
      switch random.next() % 8 {
      case 0...3:
        // All orders of magnitude, up to four years.
        let far = random.next() & ((1 << (random.next() % 38)) - 1)
        let due = random.next() % 16 == 0 ? present - min(far, present) : present + far
        let timer = WheelTimer(due: due)
        wheel.insert(timer)
        model.append((max(due, present + 1), timer))
      case 4 where !model.isEmpty:
        let index = Int(random.next() % UInt64(model.count))
        wheel.remove(model.remove(at: index).timer)
      default:
        let nearest = model.map(\.due).min()
        // Exactly to the next one, shortly before it, or anywhere.
        switch random.next() % 3 {
        case 0: present = nearest ?? present
        case 1: present = max(present, (nearest ?? present + 1) - 1)
        default: present += random.next() & ((1 << (random.next() % 34)) - 1)
        }
        let come = wheel.advance(to: present)
        let expected = model.filter { $0.due <= present }
        model.removeAll { $0.due <= present }
        expectEqual(Set(come.map(ObjectIdentifier.init)), Set(expected.map { ObjectIdentifier($0.timer) }))
        expectEqual(come.count, expected.count)
      }
      // Whoever sleeps until then misses none, and does not wake for nothing for ever.
      if let nearest = model.map(\.due).min() {
        expectEqual(wheel.nextTick.map { $0 <= nearest && $0 > present }, true)
      } else {
        #expect(wheel.nextTick == nil)
      }
    }
  }
}

/// A small generator of pseudo-random numbers (Steele, Lea and Flood, 2014), the same for each run of a seed.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
