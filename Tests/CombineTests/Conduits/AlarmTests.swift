import ReboundTesting
import Testing

@testable import Combine

@Suite("Alarm")
struct AlarmTests {
  /// An alarm, and what rang when.
  final class Rig {
    let scheduler = TestScheduler()
    let alarm: Alarm<TestScheduler, Int>
    var log: [String] = []

    init() {
      alarm = Alarm(on: scheduler, nil, after: 1)
    }

    func putOff(_ payload: Int) {
      alarm.putOff(payload) { { self.ring($0) } }
    }

    func ring(_ number: Int) {
      if let payload = alarm.ring(number, { self.ring($0) }) { log.append("\(payload) at \(scheduler.now)") }
    }
  }

  @Test("it rings once, with the payload of the last time, an interval after that")
  func rings() {
    let rig = Rig()
    rig.putOff(1)
    rig.scheduler.advance(by: 0.5)
    rig.putOff(2)
    #expect(rig.alarm.current == 2)
    rig.scheduler.advance(by: 10)
    rig.putOff(3)
    rig.scheduler.advance(by: 10)
    #expect(rig.log == ["2 at 1.5 s", "3 at 11.5 s"])
    #expect(rig.scheduler.pendingCount == 0)
  }

  @Test("one timer is under way, however often it is put off")
  func timers() {
    let rig = Rig()
    for payload in 0..<100 {
      rig.putOff(payload)
      #expect(rig.scheduler.pendingCount == 1)
      rig.scheduler.advance(by: 0.03)
    }
    rig.scheduler.advance(by: 1)
    #expect(rig.log == ["99 at 3.97 s"])
  }

  @Test("once stopped it never rings, lets go of the payload and cancels the timer")
  func stops() {
    let rig = Rig()
    rig.putOff(1)
    rig.alarm.stop()
    rig.putOff(2)
    #expect(rig.scheduler.pendingCount == 0)
    #expect(rig.alarm.current == nil)
    rig.ring(1)
    #expect(rig.log.isEmpty)
  }

  @Test("a timer that fires once more does not ring again")
  func stale() {
    let rig = Rig()
    rig.putOff(1)
    rig.scheduler.advance(by: 1)
    rig.ring(1)
    #expect(rig.log == ["1 at 1.0 s"])
  }

  @Test("a timer that fires once more does not ring for the one that is set now")
  func staleWhileArmed() {
    let rig = Rig()
    rig.putOff(1)
    rig.scheduler.advance(by: 1)
    rig.putOff(2)
    rig.ring(1)
    rig.scheduler.advance(by: 1)
    #expect(rig.log == ["1 at 1.0 s", "2 at 2.0 s"])
  }

  @Test("a scheduler that does everything at once lets it ring at once, though its clock stands still")
  func immediate() {
    let alarm = Alarm<ImmediateScheduler, Int>(on: .shared, nil, after: 5)
    var log: [Int] = []
    func ring(_ number: Int) {
      if let payload = alarm.ring(number, ring) { log.append(payload) }
    }
    alarm.putOff(1) { ring }
    alarm.putOff(2) { ring }
    #expect(log == [1, 2])
  }
}
