import Expectations

#if Foundation
  import Combine
  import Foundation
  import Testing

  @Suite("OperationQueue as a scheduler")
  struct OperationQueueSchedulerTests {
    typealias Time = OperationQueue.SchedulerTimeType
    let queue = OperationQueue()

    @Test("work is a block operation of the queue")
    func schedules() throws {
      queue.isSuspended = true
      let done = Signal()
      queue.schedule { done.send() }
      expectEqual(queue.operations.count, 1)
      #expect(queue.operations.first is BlockOperation)

      queue.isSuspended = false
      #expect(done.wait())
    }

    @Test("work for a later moment is an operation that is not ready until then, and is done once")
    func schedulesLater() throws {
      let (count, released) = (Shared(0), Signal())
      do {
        let token = Token { released.send() }
        queue.schedule(after: Time(.distantFuture)) {
          count.change { $0 += 1 }
          token.touch()
        }
      }
      let operation = try #require(queue.operations.first)
      #expect(!(operation is BlockOperation))
      #expect(operation is any Cancellable)
      #expect(!operation.isReady && !operation.isAsynchronous)

      operation.main()
      operation.main()
      expectEqual(count.value, 1)
      #expect(released.wait())
      operation.cancel()
      queue.waitUntilAllOperationsAreFinished()
      expectEqual(count.value, 1)
    }

    @Test("work for a later moment is done no sooner")
    func comesDue() {
      let (done, isSooner) = (Signal(), Shared<Bool?>(nil))
      let due = queue.now.advanced(by: .milliseconds(2))
      queue.schedule(after: due) {
        isSooner.value = Date() < due.date
        done.send()
      }
      #expect(done.wait())
      expectEqual(isSooner.value, false)
      expectEqual(queue.minimumTolerance, 0)
    }

    @Test("an operation cancelled before its moment leaves the queue with its work undone")
    func cancelsLater() {
      let count = Shared(0)
      queue.schedule(after: Time(.distantFuture)) { count.value = 1 }
      queue.cancelAllOperations()
      queue.waitUntilAllOperationsAreFinished()
      expectEqual(count.value, 0)
    }

    @Test("repeating work is an operation for each tick, until the handle is cancelled, and is let go then")
    func repeats() throws {
      let (ticks, released) = (Signal(), Signal())
      let handle: any Cancellable
      do {
        let token = Token { released.send() }
        handle = queue.schedule(after: queue.now, interval: .milliseconds(1)) {
          token.touch()
          ticks.send()
        }
      }
      #expect(ticks.wait(times: 3))
      handle.cancel()
      // Work that has been let go is not under way, and can't be done any more.
      try #require(released.wait())
      queue.waitUntilAllOperationsAreFinished()
      expectEqual(queue.operationCount, 0)
      withExtendedLifetime(handle) {}
    }

    @Test("the present is that of the clock, and repeating work is stopped by an AnyCancellable")
    func basics() {
      let before = Date()
      let now = queue.now.date
      #expect(before <= now && now <= Date())
      let handle = queue.schedule(after: Time(.distantFuture), interval: 1) {}
      #expect(handle is AnyCancellable)
      handle.cancel()
      queue.waitUntilAllOperationsAreFinished()
    }

    @Test("repeating work ends when the handle is released")
    func endsWhenReleased() {
      let released = Signal()
      do {
        let token = Token { released.send() }
        _ = queue.schedule(after: Time(.distantFuture), interval: 1) { token.touch() }
      }
      #expect(released.wait())
      queue.waitUntilAllOperationsAreFinished()
      expectEqual(queue.operationCount, 0)
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
#endif
