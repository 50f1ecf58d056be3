import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@Suite("receive(on:)")
struct ReceiveOnTests {
  @Test("values come at the next opportunity, in order")
  func delivers() {
    let scheduler = TestScheduler()
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(on: scheduler)
    upstream.receive(on: scheduler).subscribe(recorder)
    scheduler.advance(by: 2)
    upstream.send(1)
    upstream.send(2)
    scheduler.advance()
    expectEqual(recorder.timedValues.map(\.value), [1, 2])
    #expect(recorder.timedValues.allSatisfy { $0.time == scheduler.now })
  }

  @Test("on the immediate scheduler values pass at once, also from inside a value")
  func immediate() {
    let upstream = TestPublisher<Int, TestFailure>()
    var log: [String] = []
    let recorder = Recorder<Int, TestFailure>(answering: { value, _ in
      log.append("\(value) in")
      if value < 2 { upstream.send(value + 1) }
      log.append("\(value) out")
      return .none
    })
    upstream.receive(on: ImmediateScheduler.shared).subscribe(recorder)
    upstream.send(1)
    expectEqual(log, ["1 in", "2 in", "2 out", "1 out"])
  }

  @Test("values and the end come on the queue")
  func queue() {
    let key = DispatchSpecificKey<Bool>()
    let queue = DispatchQueue(label: "test")
    queue.setSpecific(key: key, value: true)
    let (done, isThere) = (Signal(), Shared<[Bool]>([]))
    let note = { isThere.change { $0.append(DispatchQueue.getSpecific(key: key) == true) } }
    let cancellable = Just(1).receive(on: queue).sink(
      receiveCompletion: { _ in
        note()
        done.send()
      },
      receiveValue: { _ in note() }
    )
    #expect(done.wait())
    expectEqual(isThere.value, [true, true])
    cancellable.cancel()
  }

  @Test("order is kept on concurrent queues, and the end comes last")
  func concurrent() {
    expectOrderKept { $0.receive(on: DispatchQueue.global()) }
    #if Foundation
      let operations = makeConcurrentOperationQueue()
      expectOrderKept { $0.receive(on: operations) }
    #endif
    expectOrderKept { $0.receive(on: DispatchQueue.global()).receive(on: DispatchQueue.global()) }
  }

  @Test("a subscriber is never inside on two threads at once")
  func serial() {
    let (inside, most, done) = (Shared(0), Shared(0), Signal())
    let recorder = Recorder<Int, Never>(
      answering: { _, _ in
        let now = inside.change { count in
          count += 1
          return count
        }
        most.change { $0 = max($0, now) }
        inside.change { $0 -= 1 }
        return .none
      },
      whenCompleted: done.send
    )
    Publishers.Sequence<Range<Int>, Never>(sequence: 0..<2000).receive(on: DispatchQueue.global()).subscribe(recorder)
    #expect(done.wait())
    expectEqual(most.value, 1)
    expectEqual(recorder.values, Array(0..<2000))
  }

  @Test("publisher and subscription tell what they are")
  func reflection() throws {
    let scheduler = TestScheduler()
    let upstream = TestPublisher<Int, TestFailure>()
    let publisher = upstream.receive(on: scheduler)
    #expect(publisher.upstream === upstream && publisher.scheduler === scheduler && publisher.options == nil)
    let keeper = Keeper<Int, TestFailure>(Recorder<Int, TestFailure>())
    publisher.subscribe(keeper)
    let subscription = try #require(keeper.subscription)
    expectEqual(String(describing: subscription), "ReceiveOn")
    #expect(labels(of: subscription).isEmpty)
  }
}
