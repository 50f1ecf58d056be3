import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Publishers.Elements")
struct ElementsTests {
  /// 1, 2, 3, without end.
  private let numbers = MadeSequence { _, number in number }

  @Test("publishes the elements, and finishes or fails as the sequence does", arguments: [nil, TestFailure.transient])
  func passes(failure: TestFailure?) async {
    let sequence = MadeSequence<Int> { _, number in
      if number > 3 { if let failure { throw failure } else { return nil } }
      return number
    }
    let (elements, error) = await Publishers.Elements(of: sequence).values.gathered()
    expectEqual(elements, [1, 2, 3])
    expectEqual(error as? TestFailure, failure)
  }

  @Test("makes no iterator before the first request, and pulls no element that is not owed")
  func demand() async {
    let received = Log<Int>()
    let recorder = Recorder<Int, any Error>(
      requesting: .none,
      answering: { value, _ in
        received.write(value)
        return .none
      }
    )
    Publishers.Elements(of: numbers).subscribe(recorder)
    expectEqual(numbers.iteratorCount, 0)
    recorder.request(.max(1))
    recorder.request(.max(2))
    await received.until(3)
    recorder.cancel()
    await numbers.untilReleased()
    expectEqual(recorder.values, [1, 2, 3])
    expectEqual(numbers.pulls.entries, [[1, 1], [1, 2], [1, 3]])
    #expect(recorder.completion == nil)
  }

  @Test("has an iterator of its own for each subscriber")
  func subscribers() async {
    let sequence = MadeSequence { iterator, number in number == 1 ? iterator : nil }
    let publisher = Publishers.Elements(of: sequence)
    await expectEqual(publisher.values.gathered().elements, [1])
    await expectEqual(publisher.values.gathered().elements, [2])
  }

  @Test("cancels the task with the subscription, and drops what comes after")
  func cancel() async {
    let (began, begin) = AsyncStream<Void>.makeStream()
    let sequence = MadeSequence { _, _ in
      begin.yield()
      await untilCancelled()
      return 1
    }
    let recorder = Recorder<Int, any Error>()
    Publishers.Elements(of: sequence).subscribe(recorder)
    for await _ in began { break }
    recorder.cancel()
    await sequence.untilReleased()
    #expect(recorder.values.isEmpty)
    #expect(recorder.completion == nil)
  }

  @Test("holds a subscriber no longer than until it has cancelled")
  func releases() async {
    weak var weakRecorder: Recorder<Int, any Error>?
    do {
      let received = Log<Int>()
      let recorder = Recorder<Int, any Error>(
        requesting: .max(1),
        answering: { value, _ in
          received.write(value)
          return .none
        }
      )
      weakRecorder = recorder
      Publishers.Elements(of: numbers).subscribe(recorder)
      await received.until(1)
      recorder.cancel()
    }
    await numbers.untilReleased()
    #expect(weakRecorder == nil)
  }

  @Test("ends its task when a subscriber is owed nothing and keeps no subscription to ask by")
  func forgotten() async {
    let subscriber = AnySubscriber<Int, any Error>(receiveSubscription: { $0.request(.max(2)) })
    Publishers.Elements(of: numbers).subscribe(subscriber)
    await numbers.untilReleased()
    expectEqual(numbers.pulls.count, 2)
  }

  @Test("goes on for a subscriber that is owed elements and keeps no subscription")
  func keepsItself() async {
    let (ended, end) = AsyncStream<[Int]>.makeStream()
    let sequence = MadeSequence { _, number in number <= 3 ? number : nil }
    let log = Log<Int>()
    let subscriber = AnySubscriber<Int, any Error>(
      receiveSubscription: { $0.request(.unlimited) },
      receiveValue: {
        log.write($0)
        return .none
      },
      receiveCompletion: { _ in end.yield(log.entries) }
    )
    Publishers.Elements(of: sequence).subscribe(subscriber)
    for await elements in ended {
      expectEqual(elements, [1, 2, 3])
      break
    }
    await sequence.untilReleased()
  }
}
