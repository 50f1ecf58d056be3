import Expectations

#if Foundation
  import Combine
  import Foundation
  import Testing

  @Suite("RunLoop as a scheduler")
  struct RunLoopSchedulerTests {
    typealias Time = RunLoop.SchedulerTimeType

    @Test("work is done on a later turn of the loop, in order")
    func schedules() {
      let log = Shared<[Int]>([])
      RunLoop.current.schedule { log.change { $0.append(1) } }
      RunLoop.current.schedule { log.change { $0.append(2) } }
      let inside = log.value

      #expect(turnRunLoop { log.value.count == 2 })

      #expect(inside.isEmpty)
      expectEqual(log.value, [1, 2])
    }

    @Test("work waits while the loop runs in a mode of its own")
    func otherMode() {
      let log = Shared<[String]>([])
      let mode = RunLoop.Mode("tracking")
      RunLoop.current.schedule { log.change { $0.append("work") } }
      for turn in 1...3 {
        RunLoop.current.perform(inModes: [mode]) { log.change { $0.append("turn \(turn)") } }
        #expect(RunLoop.current.run(mode: mode, before: .distantPast))
      }
      expectEqual(log.value, ["turn 1", "turn 2", "turn 3"])
      #expect(turnRunLoop { log.value.contains("work") })
    }

    /// A loop on a thread of its own, which sleeps between its work; it ends when its keeper is cancelled there.
    private func startLoop() throws -> LoopHandle {
      let (loop, ready) = (Shared<LoopHandle?>(nil), Signal())
      Thread.detachNewThread {
        // Without it the loop would have nothing to wait for.
        let keeper = RunLoop.current.schedule(after: Time(.distantFuture), interval: 1) {}
        loop.value = LoopHandle(RunLoop.current, keeper)
        RunLoop.current.schedule { ready.send() }
        while RunLoop.current.run(mode: .default, before: .distantFuture) {}
      }
      #expect(ready.wait())
      return try #require(loop.value)
    }

    @Test("a loop that sleeps wakes up for work from another thread")
    func wakesUp() throws {
      let (handle, answered) = (try startLoop(), Signal())
      for _ in 0..<20 {
        handle.runLoop.schedule { answered.send() }
        #expect(answered.wait())
      }
      handle.runLoop.schedule { handle.keeper.cancel() }
    }

    @Test("a loop does not go to sleep over work that its own work has put on it")
    func staysAwake() throws {
      let (handle, answered) = (try startLoop(), Signal())
      @Sendable func goOn(_ times: Int) {
        guard times > 0 else { return answered.send() }
        handle.runLoop.schedule { goOn(times - 1) }
      }
      handle.runLoop.schedule { goOn(8) }
      #expect(answered.wait())
      handle.runLoop.schedule { handle.keeper.cancel() }
    }

    @Test("the main loop's work is done on the main queue where an asynchronous main has left nobody to run that loop")
    func mainThreadIsGone() {
      // The main of test runs is asynchronous.
      let (done, isOnMainQueue, order) = (Signal(), Shared<Bool?>(nil), Shared<[Int]>([]))
      let (loop, mark) = (RunLoop.main, DispatchSpecificKey<Bool>())
      DispatchQueue.main.setSpecific(key: mark, value: true)
      let due = loop.now.advanced(by: .milliseconds(1))
      for round in 0..<2 {
        // In the second round that is known from the first.
        loop.schedule { order.change { $0.append(3 * round) } }
        loop.schedule { order.change { $0.append(3 * round + 1) } }
        loop.schedule {
          order.change { $0.append(3 * round + 2) }
          isOnMainQueue.value = DispatchQueue.getSpecific(key: mark)
          done.send()
        }
        #expect(done.wait())
        loop.schedule(after: due) { if loop.now >= due { done.send() } }
        #expect(done.wait())
        loop.schedule(after: Time(Date(timeIntervalSinceNow: .nan))) { done.send() }
        #expect(done.wait())
      }
      expectEqual(order.value, Array(0..<6))
      expectEqual(isOnMainQueue.value, true)
    }

    @Test("repeating work of the main loop goes on there until it is cancelled, and is let go then")
    func repeatsWithoutMainThread() {
      let (ticked, isReleased) = (Signal(), Signal())
      for moment in [RunLoop.main.now, Time(Date(timeIntervalSinceNow: .nan))] {
        let token = Token { isReleased.send() }
        let handle = RunLoop.main.schedule(after: moment, interval: .milliseconds(1)) {
          token.touch()
          ticked.send()
        }
        #expect(ticked.wait(times: 3))
        handle.cancel()
      }
      #expect(isReleased.wait(times: 2))
    }

    @Test("an interval that is not above 0 counts as a short one, and a moment that is not a number as the present")
    func oddNumbers() {
      let loop = RunLoop.current
      for seconds in [0, -1, -.infinity, .nan] as [TimeInterval] {
        let count = Shared(0)
        let moment = Time(Date(timeIntervalSinceNow: seconds))
        loop.schedule(after: moment) { count.change { $0 += 1 } }
        #expect(turnRunLoop { count.value == 1 })
        let handle = loop.schedule(after: moment, interval: .seconds(seconds)) { count.change { $0 += 1 } }
        #expect(turnRunLoop { count.value >= 4 })
        handle.cancel()
      }
    }

    @Test("work for a later moment is done no sooner, in the order of the moments")
    func schedulesLater() {
      let loop = RunLoop.current
      // A run loop takes a moment that has passed for the present one, so on a machine that stalls between the two
      // lines the order is open; then they are written anew.
      for _ in 0..<100 {
        let log = Shared<[Int]>([])
        let due = loop.now.advanced(by: .milliseconds(10))
        loop.schedule(after: due.advanced(by: .milliseconds(10))) { log.change { $0.append(2) } }
        loop.schedule(after: due) { log.change { $0.append(Date() < due.date ? 0 : 1) } }
        let wasInTime = loop.now < due

        #expect(turnRunLoop { log.value.count == 2 })

        #expect(!log.value.contains(0))
        guard !wasInTime else {
          expectEqual(log.value, [1, 2])
          expectEqual(loop.minimumTolerance, 0)
          return
        }
      }
      Issue.record("The machine stalled a hundred times.")
    }

    @Test("repeating work goes on until the handle is cancelled or released, and is let go then")
    func repeats() {
      let (count, releasedCount, loop) = (Shared(0), Shared(0), RunLoop.current)
      func repeated() -> any Cancellable {
        let token = Token { releasedCount.change { $0 += 1 } }
        return loop.schedule(after: loop.now, interval: .milliseconds(1)) {
          count.change { $0 += 1 }
          token.touch()
        }
      }
      let handle = repeated()
      #expect(turnRunLoop { count.value >= 3 })
      expectEqual(releasedCount.value, 0)
      handle.cancel()
      // Work that has been let go can't be done any more.
      expectEqual(releasedCount.value, 1)
      _ = repeated()
      expectEqual(releasedCount.value, 2)
      withExtendedLifetime(handle) {}
    }

    @Test("the present is that of the clock, and repeating work is stopped by an AnyCancellable")
    func basics() {
      let before = Date()
      let now = RunLoop.current.now.date
      #expect(before <= now && now <= Date())
      let handle = RunLoop.current.schedule(after: Time(.distantFuture), interval: 1) {}
      #expect(handle is AnyCancellable)
      handle.cancel()
    }

    @Test("work is let go once it is done, cancelled, or has nobody left to cancel it")
    func letsGo() {
      let (loop, released) = (RunLoop.current, Signal())
      func work() -> () -> Void {
        let token = Token { released.send() }
        return { token.touch() }
      }
      loop.schedule(work())
      loop.schedule(after: loop.now, work())
      let isDone = Shared(false)
      loop.schedule(after: loop.now.advanced(by: .milliseconds(1))) { isDone.value = true }
      #expect(turnRunLoop { isDone.value })
      loop.schedule(after: Time(.distantFuture), interval: 1, work()).cancel()
      _ = loop.schedule(after: Time(.distantFuture), interval: 1, work())
      #expect(released.wait(times: 4))
    }

    @Test("strides count seconds, and so do literals")
    func strides() throws {
      expectEqual((2 as Time.Stride).magnitude, 2)
      expectEqual((1.25 as Time.Stride).timeInterval, 1.25)
      expectEqual(Time.Stride(3.5), 3.5)
      expectEqual(Time.Stride(exactly: 2), 2)
      #expect(Time.Stride(exactly: Int.max) == nil)
      let units: [Time.Stride] = [.seconds(3), .seconds(0.5), .milliseconds(3), .microseconds(3), .nanoseconds(3)]
      expectEqual(units.map(\.magnitude), [3, 0.5, 0.003, 0.000_003, 0.000_000_003])
      expectEqual((3 as Time.Stride) + 4, 7)
      expectEqual((3 as Time.Stride) - 4, -1)
      expectEqual((3 as Time.Stride) * 4, 12)
      var product: Time.Stride = 0.5
      product *= 0.5
      expectEqual(product, 0.25)
      #expect((1 as Time.Stride) < 2)
      try expectEqual(json(Time.Stride(7.5)), #"{"magnitude":7.5}"#)
      try expectEqual(decoded(Time.Stride.self, from: #"{"magnitude":7.5}"#), 7.5)
    }

    @Test("a moment is a date, and coded as one")
    func time() throws {
      let time = Time(Date(timeIntervalSinceReferenceDate: 10))
      expectEqual(time.advanced(by: 2.5).date, Date(timeIntervalSinceReferenceDate: 12.5))
      expectEqual(time.distance(to: time.advanced(by: -2)), -2)
      #expect(time < time.advanced(by: 1))
      expectEqual(Set([time, time.advanced(by: 0)]).count, 1)
      try expectEqual(json(time), #"{"date":10}"#)
      try expectEqual(decoded(Time.self, from: #"{"date":10}"#), time)
    }
  }

  /// A run loop on its way to another thread, and what keeps it running.
  ///
  /// Unchecked, because scheduling from any thread is what is tested.
  private struct LoopHandle: @unchecked Sendable {
    let runLoop: RunLoop
    let keeper: any Cancellable

    init(_ runLoop: RunLoop, _ keeper: any Cancellable) {
      self.runLoop = runLoop
      self.keeper = keeper
    }
  }
#endif
