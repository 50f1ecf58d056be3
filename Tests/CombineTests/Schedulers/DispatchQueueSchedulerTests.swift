import Combine
import Dispatch
import Expectations
import Testing

/// What is tested here are the system's own queues and timers, which no virtual time stands in for.
///
/// So each test waits for the event, however late it comes, and none asserts how long something took; that work is not
/// early is a promise of its own.
@Suite("DispatchQueue as a scheduler")
struct DispatchQueueSchedulerTests {
  typealias Time = DispatchQueue.SchedulerTimeType
  let queue = DispatchQueue(label: "test")

  @Test("work is done on the queue, never at once")
  func schedules() {
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let (log, done) = (Shared<[String]>([]), Signal())
    queue.sync {
      queue.schedule {
        log.change { $0.append(DispatchQueue.getSpecific(key: key) == true ? "on the queue" : "elsewhere") }
        done.send()
      }
      log.change { $0.append("scheduled") }
    }

    #expect(done.wait())
    expectEqual(log.value, ["scheduled", "on the queue"])
  }

  @Test("options set the group and the quality of service")
  func options() {
    let (group, qos) = (DispatchGroup(), Shared<UInt32>(0))
    let options = DispatchQueue.SchedulerOptions(qos: .userInitiated, flags: .enforceQoS, group: group)
    DispatchQueue(label: "plain").schedule(options: options) { qos.value = 1 }

    expectEqual(group.wait(timeout: .now() + 60), .success)
    expectEqual(qos.value, 1)
    let none = DispatchQueue.SchedulerOptions()
    #expect(none.qos == .unspecified && none.flags == [] && none.group == nil)
  }

  @Test("work for a later moment is done no sooner")
  func schedulesLater() {
    let (done, isSooner) = (Signal(), Shared<Bool?>(nil))
    let due = queue.now.advanced(by: .milliseconds(2))
    queue.schedule(after: due, tolerance: 0, options: .init(qos: .utility)) {
      isSooner.value = DispatchTime.now() < due.dispatchTime
      done.send()
    }
    #expect(done.wait())
    expectEqual(isSooner.value, false)
  }

  @Test("repeating work goes on until the handle is cancelled, and is let go then")
  func repeats() {
    let (ticks, count, released) = (Signal(), Shared(0), Signal())
    let handle: any Cancellable
    do {
      let token = Token { released.send() }
      handle = queue.schedule(after: queue.now, interval: .milliseconds(1), tolerance: .milliseconds(1)) {
        count.change { $0 += 1 }
        token.touch()
        ticks.send()
      }
    }
    #expect(ticks.wait(times: 3))
    // On the queue, no tick is under way.
    let last = queue.sync {
      handle.cancel()
      return count.value
    }
    // Work that has been let go can't be done any more.
    #expect(released.wait())
    expectEqual(count.value, last)
    withExtendedLifetime(handle) {}
  }

  @Test(
    "the present is that of the system, any punctuality will do, and repeating work is stopped by an AnyCancellable"
  )
  func basics() {
    let before = DispatchTime.now()
    let now = queue.now.dispatchTime
    #expect(before <= now && now <= DispatchTime.now())
    expectEqual(queue.minimumTolerance, 0)
    let handle = queue.schedule(after: queue.now.advanced(by: .seconds(3600)), interval: 1) {}
    #expect(handle is AnyCancellable)
    handle.cancel()
  }

  @Test("repeating work ends when the handle is released")
  func endsWhenReleased() {
    let released = Signal()
    do {
      let token = Token { released.send() }
      _ = queue.schedule(after: queue.now.advanced(by: .seconds(3600)), interval: 1) { token.touch() }
    }
    #expect(released.wait())
  }

  @Test("a moment is coded as its nanoseconds, and moves by strides that stop at the ends of time")
  func time() throws {
    let time = Time(DispatchTime(uptimeNanoseconds: 42))
    try expectEqual(json([time]), "[42]")
    try expectEqual(decoded([Time].self, from: "[42]"), [time])
    expectEqual(time.advanced(by: .nanoseconds(8)).dispatchTime.uptimeNanoseconds, 50)
    expectEqual(time.advanced(by: .nanoseconds(-41)).dispatchTime.uptimeNanoseconds, 1)
    expectEqual(time.advanced(by: .nanoseconds(-100)).dispatchTime.uptimeNanoseconds, 1)
    expectEqual(time.advanced(by: .seconds(.infinity)).dispatchTime, .distantFuture)
    #expect(time < time.advanced(by: 1))
    expectEqual(Set([time, time.advanced(by: 0)]).count, 1)
  }

  @Test("distances are exact with their sign, and too long ones are the longest in both directions")
  func distances() {
    let (early, late) = (Time(DispatchTime(uptimeNanoseconds: 10)), Time(DispatchTime(uptimeNanoseconds: 17)))
    expectEqual(early.distance(to: late), .nanoseconds(7))
    expectEqual(late.distance(to: early), .nanoseconds(-7))
    let end = Time(DispatchTime(uptimeNanoseconds: .max - 1))
    expectEqual(early.distance(to: end), .nanoseconds(.max))
    expectEqual(end.distance(to: early), .nanoseconds(.max))
  }

  @Test("strides count nanoseconds, literals seconds")
  func strides() throws {
    expectEqual((2 as Time.Stride).magnitude, 2_000_000_000)
    expectEqual((1.2 as Time.Stride).magnitude, 1_200_000_000)
    expectEqual(Time.Stride(exactly: 2)?.magnitude, 2_000_000_000)
    #expect(Time.Stride(exactly: UInt64.max) == nil)
    let units: [Time.Stride] = [.seconds(3), .seconds(0.5), .milliseconds(3), .microseconds(3), .nanoseconds(3)]
    expectEqual(units.map(\.magnitude), [3_000_000_000, 500_000_000, 3_000_000, 3_000, 3])
    expectEqual(Time.Stride.nanoseconds(3).timeInterval, .nanoseconds(3))
    try expectEqual(json(Time.Stride.nanoseconds(5)), #"{"_nanoseconds":5}"#)
    try expectEqual(decoded(Time.Stride.self, from: #"{"_nanoseconds":5}"#), .nanoseconds(5))
    expectEqual(Set([Time.Stride.seconds(1), 1]).count, 1)
    var changed: Time.Stride = 1
    changed.magnitude = 7
    expectEqual(changed, .nanoseconds(7))
  }

  @Test("what does not fit into a stride is clamped, infinite seconds included")
  func clamps() {
    expectEqual(Time.Stride.seconds(.infinity).magnitude, .max)
    expectEqual(Time.Stride.seconds(-.infinity).magnitude, .min)
    expectEqual(Time.Stride.seconds(Int.max).magnitude, .max)
    expectEqual(Time.Stride.milliseconds(Int.min).magnitude, .min)
    expectEqual((.seconds(.infinity) + 1 as Time.Stride).magnitude, .max)
    expectEqual((.nanoseconds(.min) - 1 as Time.Stride).magnitude, .min)
  }

  @Test(
    "dispatch intervals become strides",
    arguments: [
      (DispatchTimeInterval.seconds(2), 2_000_000_000), (.milliseconds(2), 2_000_000), (.microseconds(2), 2000),
      (.nanoseconds(2), 2), (.never, Int.max), (.seconds(.max), Int.max),
    ]
  )
  func intervals(interval: DispatchTimeInterval, nanoseconds: Int) {
    expectEqual(Time.Stride(interval).magnitude, nanoseconds)
  }

  @Test("products count in seconds, so that those of tiny lengths are nothing")
  func products() {
    expectEqual(.nanoseconds(18) * .nanoseconds(1) as Time.Stride, 0)
    expectEqual(.microseconds(-3) * .nanoseconds(10) as Time.Stride, 0)
    expectEqual(2 * 3 as Time.Stride, 6)
    expectEqual(-2 * 1.5 as Time.Stride, -3)
    expectEqual(.nanoseconds(.max) * 2 as Time.Stride, .nanoseconds(.max))
    expectEqual(.nanoseconds(.min) * .nanoseconds(.max) as Time.Stride, .nanoseconds(.min))
    var product: Time.Stride = 0.5
    product *= 0.5
    expectEqual(product, 0.25)
  }
}
