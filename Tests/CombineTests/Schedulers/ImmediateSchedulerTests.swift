import Combine
import Expectations
import Testing

@Suite("ImmediateScheduler")
struct ImmediateSchedulerTests {
  typealias Time = ImmediateScheduler.SchedulerTimeType
  let scheduler = ImmediateScheduler.shared

  @Test("all work is done at once, and repeating work once")
  func schedules() {
    var log: [String] = []
    scheduler.schedule { log.append("now") }
    scheduler.schedule(after: scheduler.now.advanced(by: 1000)) { log.append("later") }
    let handle = scheduler.schedule(after: scheduler.now, interval: 1) { log.append("repeating") }
    handle.cancel()

    expectEqual(log, ["now", "later", "repeating"])
    expectEqual((handle as? any Subscription)?.combineIdentifier, Subscriptions.empty.combineIdentifier)
    expectEqual(scheduler.minimumTolerance, 0)
  }

  @Test("time stands still")
  func time() {
    let now = scheduler.now
    expectEqual(now.advanced(by: 42), now)
    expectEqual(now.distance(to: now.advanced(by: 42)), 0)
    #expect(!(now < now))
  }

  @Test("its time can't be coded or hashed, and its options are none at all")
  func timeConformances() {
    let now = scheduler.now as Any
    #expect(!(now is any Encodable) && !(now is any Decodable) && !(now is any Hashable))
    expectEqual("\(ImmediateScheduler.SchedulerOptions.self)", "Never")
  }

  @Test("strides are plain numbers, but no time unit makes one")
  func strides() throws {
    expectEqual(Time.Stride(7).magnitude, 7)
    expectEqual((2.9 as Time.Stride).magnitude, 2)
    expectEqual(Time.Stride(floatLiteral: .infinity).magnitude, .max)
    #expect(Time.Stride(exactly: UInt64.max) == nil)
    expectEqual(Time.Stride(exactly: 5 as UInt8), 5)
    expectEqual((3 as Time.Stride) + 4, 7)
    expectEqual((3 as Time.Stride) - 4, -1)
    expectEqual(Time.Stride(.max) + 1, Time.Stride(.max))
    expectEqual(Time.Stride(.min) - 1, Time.Stride(.min))
    var product: Time.Stride = 3
    product *= 4
    expectEqual(product, 12)
    #expect(Time.Stride(1) < 2)
    let units: [Time.Stride] = [
      .seconds(1), .seconds(1.5), .milliseconds(1), .microseconds(1), .nanoseconds(1),
    ]
    expectEqual(units, [0, 0, 0, 0, 0])
    try expectEqual(json([Time.Stride(7)]), #"[{"magnitude":7}]"#)
    try expectEqual(decoded(Time.Stride.self, from: #"{"magnitude":7}"#), 7)
  }
}
