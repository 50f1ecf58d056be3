import Expectations
import Rebound
import ReboundTesting
import Testing

/// What the drivers promise of publishers and functions, of asynchronous sequences under each policy.
@Suite("Sequences keep the contract of policies")
struct SequenceContractTests {
  private let scheduler = TestScheduler()

  /// Lets an execution go on wherever it waits, until something has happened.
  private func letGoOn(_ subject: PolicySubject, until isDone: () -> Bool) async {
    while !isDone() {
      if subject.isWaiting() { subject.release() }
      await Task.yield()
    }
  }

  private func waitUntil(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
  }

  /// Iterates to the end.
  private func gathered(
    _ subject: PolicySubject,
    _ sequence: MadeSequence<Int>
  ) async -> (elements: [Int], error: (any Error)?, afterwards: [Int?]) {
    let over = EventLog<Void>()
    let elements = subject.iterate(sequence, scheduler.time)
    let task = Task {
      defer { over.write(()) }
      var iterator = elements.makeAsyncIterator()
      var (found, failure, afterwards): ([Int], (any Error)?, [Int?]) = ([], nil, [])
      do { while let element = try await iterator.next() { found.append(element) } } catch { failure = error }
      for _ in 0..<2 {
        if let next = try? await iterator.next() { afterwards.append(next) } else { afterwards.append(nil) }
      }
      return (found, failure, afterwards)
    }
    await letGoOn(subject) { over.count > 0 }
    return await task.value
  }

  private func expectNothingIsLeft(_ subject: PolicySubject, begun: Int = 1) {
    expectEqual(scheduler.pendingCount, 0)
    subject.release()
    scheduler.advance(by: .seconds(100))
    expectEqual(scheduler.pendingCount, 0)
    expectEqual(subject.log.counts.ended, subject.log.counts.begun)
    expectEqual(subject.log.counts.begun, begun)
    expectEqual(subject.log.counts.overlaps, 0)
    #expect(subject.isIdle())
  }

  @Test(
    "an end comes once, and nothing behind it",
    arguments: PolicyUnderTest.all.filter { !$0.triesAgainAfterFinish },
    [false, true]
  )
  func oneEnd(row: PolicyUnderTest, fails: Bool) async throws {
    let subject = try row.make(scheduler)
    if row.wait == .beforeTheFirst { try subject.block() }
    let sequence = MadeSequence<Int> { _, number in
      if number < 3 { return number }
      if fails { throw TestFailure.permanent }
      return nil
    }
    // Who tries again for ever is not asked to.
    if fails, row.attempts == .max { return }
    let (elements, error, afterwards) = await gathered(subject, sequence)
    expectEqual(elements.prefix(2), [1, 2])
    expectEqual(error != nil, fails)
    expectEqual(afterwards, [nil, nil])
    expectNothingIsLeft(subject)
  }

  @Test("no element is pulled that is not awaited", arguments: PolicyUnderTest.all)
  func demand(row: PolicyUnderTest) async throws {
    let subject = try row.make(scheduler)
    let numbers = MadeSequence<Int> { _, number in number }
    let (pulled, over) = (EventLog<[Int]>(), EventLog<Void>())
    let elements = subject.iterate(numbers, scheduler.time)
    let loop = Task {
      defer { over.write(()) }
      var iterator = elements.makeAsyncIterator()
      while pulled.count < 3, let element = try await iterator.next() { pulled.write([element, numbers.pulls.count]) }
    }
    await letGoOn(subject) { over.count > 0 }
    try await loop.value
    expectEqual(pulled.entries, [[1, 1], [2, 2], [3, 3]])
    await numbers.untilReleased()
    await waitUntil { subject.log.counts.ended == 1 }
    expectEqual(numbers.pulls.count, 3)
    expectNothingIsLeft(subject)
  }

  @Test(
    "two iterators do not share what they have used up",
    arguments: PolicyUnderTest.all.filter { $0.triesAgainAfterFailure && $0.attempts < .max }
  )
  func ownState(row: PolicyUnderTest) async throws {
    let subject = try row.make(scheduler)
    let sequence = MadeSequence<Int> { _, number in
      if number == 1 { return 1 }
      throw TestFailure.transient
    }
    async let one = gathered(subject, sequence)
    async let two = gathered(subject, sequence)
    await expectEqual(one.elements.count, row.attempts)
    await expectEqual(two.elements.count, row.attempts)
    expectNothingIsLeft(subject, begun: 2)
  }

  @Test(
    "a cancel of the loop while it waits ends it, and gives all back",
    arguments: PolicyUnderTest.all.filter { $0.wait != .never }
  )
  func cancelInWait(row: PolicyUnderTest) async throws {
    let subject = try row.make(scheduler)
    if row.wait == .beforeTheFirst { try subject.block() }
    let sequence = MadeSequence<Int> { _, _ in
      if row.triesAgainAfterFinish { return nil }
      throw TestFailure.transient
    }
    let elements = subject.iterate(sequence, scheduler.time)
    let loop = Task { await elements.gathered() }
    // Some have something that waits from the first moment on, before there is a failure to wait after.
    await waitUntil { subject.isWaiting() && (row.wait == .beforeTheFirst || sequence.pulls.count > 0) }
    loop.cancel()
    let (found, error) = await loop.value
    #expect(found.isEmpty)
    #expect(error == nil)
    expectEqual(sequence.iteratorCount, row.wait == .beforeTheFirst ? 0 : 1)
    await waitUntil { subject.log.counts.ended == 1 }
    expectEqual(subject.log.counts.cancelled, 1)
    expectNothingIsLeft(subject)
  }

  @Test(
    "a cancel of the loop while an element is awaited reaches the sequence, and gives all back",
    arguments: PolicyUnderTest.all
  )
  func cancelInPull(row: PolicyUnderTest) async throws {
    let subject = try row.make(scheduler)
    let silent = MadeSequence<Int> { _, number in
      if number > 1 { await untilCancelled() }
      return number
    }
    let elements = subject.iterate(silent, scheduler.time)
    let loop = Task { await elements.gathered() }
    await letGoOn(subject) { silent.pulls.count == 2 }
    loop.cancel()
    let (found, error) = await loop.value
    expectEqual(found, [1])
    #expect(error == nil)
    await silent.untilReleased()
    await waitUntil { subject.log.counts.ended == 1 }
    expectEqual(subject.log.counts.cancelled, 1)
    expectEqual(silent.iteratorCount, 1)
    expectNothingIsLeft(subject)
  }

  @Test("a loop that is cancelled before it begins pulls nothing", arguments: PolicyUnderTest.all)
  func cancelBefore(row: PolicyUnderTest) async throws {
    let subject = try row.make(scheduler)
    let numbers = MadeSequence<Int> { _, number in number }
    let elements = subject.iterate(numbers, scheduler.time)
    let loop = Task {
      await untilCancelled()
      return await elements.gathered()
    }
    loop.cancel()
    let (found, error) = await loop.value
    #expect(found.isEmpty)
    #expect(error == nil)
    await waitUntil { subject.log.counts.ended == subject.log.counts.begun }
    expectEqual(numbers.pulls.count, 0)
    expectNothingIsLeft(subject, begun: subject.log.counts.begun)
  }

  @Test("whoever leaves the loop in a wait or between elements gives all back", arguments: PolicyUnderTest.all)
  func leaves(row: PolicyUnderTest) async throws {
    let subject = try row.make(scheduler)
    let numbers = MadeSequence<Int> { _, number in number }
    do {
      // Nothing is asked for: the execution begins, and whoever waits is left.
      if row.wait == .beforeTheFirst { try subject.block() }
      _ = subject.iterate(numbers, scheduler.time).makeAsyncIterator()
    }
    await waitUntil { subject.log.counts.ended == subject.log.counts.begun }
    expectEqual(numbers.iteratorCount, 0)
    expectNothingIsLeft(subject, begun: subject.log.counts.begun)
  }
}
