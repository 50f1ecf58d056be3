import Combine
import Expectations
import Rebound
import ReboundTesting
import StreamSupport
import Testing

/// A cancel that comes from inside of what the library itself calls: a listener of its decisions, or the upstream.
@Suite("A cancel from inside of a decision")
struct CancelInsideTests {
  private typealias Upstream = TestPublisher<Int, any Error>

  /// What tells no decision unless a limit is reached or a state changes, which no course here brings about.
  private static let silent: Set = [
    "RepeatPolicy", "PolicyForFailure", "TimeoutPolicy", "Timeout", "RetryOnPolicy", "RetryWhenPolicy",
    "MetastabilityDetector", "MetastabilityDetector.Requests", "AdaptiveThrottle",
  ]

  private let scheduler = TestScheduler()

  private func ends(of row: PolicyUnderTest, _ course: PolicyUnderTest.Course) -> [Subscribers.Completion<any Error>] {
    course == .again && row.triesAgain ? [row.again, row.again, row.passing] : [row.again, row.passing]
  }

  /// Goes through an execution, and cancels it from inside of the event with this number, from 1; 0 is never.
  ///
  /// - Returns: How many events were told.
  private func walk(
    _ row: PolicyUnderTest,
    _ course: PolicyUnderTest.Course,
    cancellingInside number: Int
  ) throws -> Int {
    let (subject, upstream) = (try row.make(scheduler), Upstream())
    let events = PolicyEvents(time: scheduler.time)
    let pipeline = try subject.pipeline(scheduler.time, events)
    if course == .waiting { try subject.block() }
    let (recorder, told) = (Recorder<Int, any Error>(), EventLog<Int>())
    let listener = events.sink { _ in
      if told.number(recorder.events.count) == number { recorder.cancel() }
    }
    upstream.protected(by: pipeline).subscribe(recorder)
    for end in course == .passing ? [row.passing] : ends(of: row, course) {
      subject.release()
      upstream.send(1)
      upstream.send(completion: end)
    }
    let count = told.count
    if number > 0, count >= number {
      expectEqual(recorder.events.count, told.entries[number - 1], "something came behind the cancel in \(number)")
    }
    subject.release()
    scheduler.advance(by: .seconds(100))
    expectEqual(scheduler.pendingCount, 0)
    #expect(subject.isIdle())
    expectEqual(subject.log.counts.ended, 1, "\(course): the machine heard of two ends with a cancel in \(number)")
    expectEqual(subject.log.counts.overlaps, 0)
    withExtendedLifetime(listener) {}
    return count
  }

  @Test(
    "a listener that cancels the execution of which it hears: nothing comes behind it, and all is given back",
    arguments: PolicyUnderTest.all
  )
  func listener(row: PolicyUnderTest) throws {
    var cancels = 0
    for course in [PolicyUnderTest.Course.passing, .again, .waiting] {
      let count = try walk(row, course, cancellingInside: 0)
      for number in 0..<count {
        _ = try walk(row, course, cancellingInside: number + 1)
        cancels += 1
      }
    }
    let isSilent = row.types.isEmpty || !row.types.isDisjoint(with: Self.silent)
    #expect(cancels > 0 || isSilent, "no decision is told of")
  }

  @Test(
    "a listener that cancels the function of which it hears: it ends, and all is given back",
    arguments: PolicyUnderTest.all
  )
  func listenerOfFunction(row: PolicyUnderTest) async throws {
    for course in [PolicyUnderTest.Course.passing, .again, .waiting] {
      for number in 1...3 {
        let subject = try row.make(scheduler)
        let events = PolicyEvents(time: scheduler.time)
        let pipeline = try subject.pipeline(scheduler.time, events)
        if course == .waiting { try subject.block() }
        let (told, calls, over) = (EventLog<Void>(), EventLog<Void>(), EventLog<Void>())
        let task = Locked<Task<Int, any Error>?>(nil)
        let isMade = EventLog<Void>()
        let listener = events.sink { _ in
          if told.number(()) == number { task.withLock { $0 }?.cancel() }
        }
        let ends = course == .passing ? [row.passing] : ends(of: row, course)
        let outcomes: [Result<Int, any Error>] = ends.map { end in
          if case .failure(let error) = end { .failure(error) } else { .success(1) }
        }
        let made = Task {
          defer { over.write(()) }
          await isMade.until(1)
          return try await pipeline.run { try outcomes[min(calls.number(()), outcomes.count) - 1].get() }
        }
        task.withLock { $0 = made }
        isMade.write(())
        while over.count == 0 {
          if subject.isWaiting() { subject.release() }
          await Task.yield()
        }
        _ = await made.result
        subject.release()
        scheduler.advance(by: .seconds(100))
        expectEqual(scheduler.pendingCount, 0)
        #expect(subject.isIdle(), "\(course), cancelled in \(number)")
        withExtendedLifetime(listener) {}
      }
    }
  }

  @Test("a listener that cancels the execution of a stage: nothing comes behind it", arguments: StageUnderTest.all)
  func listenerOfStage(row: StageUnderTest) throws {
    for fails in [false, true] {
      var number = 0
      var count = 1
      while number <= count {
        let (events, upstream) = (PolicyEvents(time: scheduler.time), Upstream())
        let subject = try row.make(scheduler.time, telling: events)
        let (recorder, told) = (Recorder<Int, any Error>(), EventLog<Int>())
        let listener = events.sink { _ in
          if told.number(delivered(to: recorder)) == number { recorder.cancel() }
        }
        subject.protect(upstream.eraseToAnyPublisher()).subscribe(recorder)
        // Long enough for a hedge.
        scheduler.advance(by: .seconds(5))
        let connections = upstream.connections
        if fails {
          for connection in connections { connection.send(completion: .failure(TestFailure.transient)) }
        } else {
          connections.last?.send(1)
          scheduler.advance(by: .seconds(1))
          connections.last?.send(completion: .finished)
        }
        if number == 0 { count = told.count }
        if number > 0, told.count >= number, recorder.cancelTime != nil {
          expectEqual(delivered(to: recorder), told.entries[number - 1], "\(fails): behind the cancel in \(number)")
        }
        scheduler.advance(by: .seconds(100))
        expectEqual(scheduler.pendingCount, 0)
        #expect(subject.isIdle())
        withExtendedLifetime(listener) {}
        number += 1
      }
    }
  }

  /// How many values and ends have come; a subscription comes behind a cancel, too, since only then it can be cancelled.
  private func delivered(to recorder: Recorder<Int, any Error>) -> Int {
    recorder.values.count + (recorder.completion == nil ? 0 : 1)
  }

  // MARK: The upstream

  /// What an upstream may do when it is subscribed to, before, inside and after it hands over its subscription.
  enum Moment: CaseIterable { case before, after, inRequest }

  private func upstream(cancelling recorder: Recorder<Int, any Error>, at moment: Moment) -> (Upstream, EventLog<Void>)
  {
    let cancels = EventLog<Void>()
    let upstream = Upstream(handingOver: { subscriber in
      if moment == .before { recorder.cancel() }
      subscriber.receive(
        subscription: HookedSubscription(
          whenRequested: { if moment == .inRequest { recorder.cancel() } },
          whenCancelled: { cancels.write(()) }
        )
      )
      if moment == .after { recorder.cancel() }
      _ = subscriber.receive(1)
      subscriber.receive(completion: .failure(TestFailure.transient))
    })
    return (upstream, cancels)
  }

  @Test(
    "a cancel from inside of the subscription of an attempt: it is cancelled, nothing comes, and all is given back",
    arguments: PolicyUnderTest.all,
    Moment.allCases
  )
  func subscribing(row: PolicyUnderTest, moment: Moment) throws {
    let subject = try row.make(scheduler)
    try subject.block()
    let recorder = Recorder<Int, any Error>()
    let (upstream, cancels) = upstream(cancelling: recorder, at: moment)
    subject.protect(upstream.eraseToAnyPublisher(), scheduler.time).subscribe(recorder)
    subject.release()
    scheduler.advance(by: .seconds(100))
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(cancels.count, 1)
    expectEqual(recorder.events.count, 1)
    expectEqual(subject.log.counts, .init(begun: 1, ended: 1, cancelled: 1))
    expectEqual(scheduler.pendingCount, 0)
    #expect(subject.isIdle())
  }

  @Test(
    "a cancel from inside of the subscription of a stage: it is cancelled, nothing comes, and all is given back",
    arguments: StageUnderTest.all,
    Moment.allCases
  )
  func subscribingStage(row: StageUnderTest, moment: Moment) throws {
    let subject = try row.make(scheduler.time)
    let recorder = Recorder<Int, any Error>()
    let (upstream, cancels) = upstream(cancelling: recorder, at: moment)
    subject.protect(upstream.eraseToAnyPublisher()).subscribe(recorder)
    scheduler.advance(by: .seconds(100))
    // One that hands on the subscription of the upstream cannot be cancelled before that.
    guard recorder.cancelTime != nil else {
      expectEqual(moment, .before)
      return
    }
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(cancels.count, 1)
    #expect(recorder.values.isEmpty && recorder.completions.isEmpty)
    expectEqual(scheduler.pendingCount, 0)
    #expect(subject.isIdle())
  }

  // MARK: What is held

  /// Where an execution is when it is cancelled.
  enum Phase: CaseIterable { case waiting, running }

  @Test(
    "a cancelled execution holds on to neither side, also while its subscription is held",
    arguments: PolicyUnderTest.all,
    Phase.allCases
  )
  func releases(row: PolicyUnderTest, phase: Phase) throws {
    let subject = try row.make(scheduler)
    if phase == .waiting, row.wait == .beforeTheFirst { try subject.block() }
    weak var upstreamToken: EventLog<Int>?
    weak var downstreamToken: EventLog<Int>?
    var held: (any Subscription)?
    do {
      let (above, below) = (EventLog<Int>(), EventLog<Int>())
      (upstreamToken, downstreamToken) = (above, below)
      let upstream = Upstream(whenSubscribed: { connection in
        above.write(1)
        if phase == .waiting { connection.send(completion: row.again) }
      })
      subject.protect(upstream.eraseToAnyPublisher(), scheduler.time).subscribe(
        AnySubscriber(
          receiveSubscription: {
            held = $0
            $0.request(.unlimited)
          },
          receiveValue: { value in
            below.write(value)
            return .none
          }
        )
      )
    }
    held?.cancel()
    #expect(upstreamToken == nil)
    #expect(downstreamToken == nil)
    withExtendedLifetime(held) {}
  }

  @Test("a cancelled execution of a stage is held by nobody but its subscriber", arguments: StageUnderTest.all)
  func releasesOfStage(row: StageUnderTest) throws {
    let subject = try row.make(scheduler.time)
    weak var upstreamToken: EventLog<Int>?
    weak var downstreamToken: EventLog<Int>?
    var held: (any Subscription)?
    do {
      let (above, below) = (EventLog<Int>(), EventLog<Int>())
      (upstreamToken, downstreamToken) = (above, below)
      subject.protect(Upstream(whenSubscribed: { _ in above.write(1) }).eraseToAnyPublisher()).subscribe(
        AnySubscriber(
          receiveSubscription: {
            held = $0
            $0.request(.unlimited)
          },
          receiveValue: { value in
            below.write(value)
            return .none
          }
        )
      )
    }
    scheduler.advance(by: .init(row.wait))
    held?.cancel()
    // Combine's operators keep their downstream as long as they are held themselves.
    held = nil
    #expect(upstreamToken == nil)
    #expect(downstreamToken == nil)
  }
}

/// A subscription that says what it is asked.
private struct HookedSubscription: Subscription {
  let combineIdentifier = CombineIdentifier()
  let whenRequested: () -> Void
  let whenCancelled: () -> Void

  func request(_ demand: Subscribers.Demand) { whenRequested() }
  func cancel() { whenCancelled() }
}
