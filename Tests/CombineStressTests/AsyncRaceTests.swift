import Combine
import Expectations
import ReboundTesting
import Testing

/// Tasks and threads at the two ends of an async sequence.
///
/// The threads of the crew never wait for a task, so the tests may run on the few threads that tasks have.
@Suite("Async sequences while threads race", .serialized)
struct AsyncRaceTests {
  private let crew = RaceCrew(size: 3)
  private let rounds = StressSettings.rounds

  private typealias Subject = PassthroughSubject<Parcel, StressFailure>

  /// What one loop over `values` saw.
  private struct Report: Sendable {
    var numbers: [Int] = []
    var hasFailed = false
  }

  /// An iterator that tasks take turns with.
  ///
  /// Unchecked, because copies of an iterator share what they iterate, which is made for any thread.
  private struct Iterator<P: Publisher>: @unchecked Sendable where P.Output == Parcel {
    let first: AsyncThrowingPublisher<P>.Iterator

    init(over publisher: P) {
      first = AsyncThrowingPublisher(publisher).makeAsyncIterator()
    }

    func rest(atMost limit: Int = .max) async -> Report {
      var report = Report()
      var iterator = first
      do {
        while report.numbers.count < limit, let parcel = try await iterator.next() {
          report.numbers.append(parcel.number)
        }
      } catch {
        report.hasFailed = true
      }
      return report
    }
  }

  private func parcel(_ number: Int, _ tracker: LifetimeTracker) -> Parcel {
    Parcel(source: 0, sender: 0, number: number, tracked: tracker.make())
  }

  @Test("a loop gets every buffered value in order, and then the end, while another thread sends")
  func loop() async {
    for round in 0..<rounds {
      let tracker = LifetimeTracker()
      let subject = Subject()
      let iterator = Iterator(over: subject.buffer(size: 100, prefetch: .byRequest, whenFull: .dropNewest))
      let reader = Task { await iterator.rest() }
      let hasReturned = crew.run([
        {
          for number in 0..<20 { subject.send(parcel(number, tracker)) }
          subject.send(completion: .finished)
        }
      ])
      let report = await reader.value
      #expect(hasReturned && report.numbers == Array(0..<20) && !report.hasFailed, "round \(round): \(report)")
      expectEqual(tracker.count, 0, "round \(round)")
    }
  }

  @Test("a loop that fails throws the failure once, whoever waits when it comes")
  func failure() async {
    for round in 0..<rounds {
      let subject = Subject()
      let iterator = Iterator(over: subject)
      let readers = (0..<2).map { _ in Task { await iterator.rest() } }
      let hasReturned = crew.run([
        { subject.send(completion: .failure(StressFailure())) },
        { subject.send(completion: .finished) },
      ])
      var failures = 0
      for reader in readers { failures += await reader.value.hasFailed ? 1 : 0 }
      #expect(hasReturned && failures <= 1, "round \(round): \(failures)")
    }
  }

  @Test("two tasks with copies of one iterator share the values, and lose none")
  func copies() async {
    for round in 0..<rounds {
      let tracker = LifetimeTracker()
      let subject = Subject()
      let iterator = Iterator(over: subject.buffer(size: 100, prefetch: .keepFull, whenFull: .dropNewest))
      let readers = (0..<2).map { _ in Task { await iterator.rest() } }
      let hasReturned = crew.run([
        {
          for number in 0..<20 { subject.send(parcel(number, tracker)) }
          subject.send(completion: .finished)
        }
      ])
      var numbers: [Int] = []
      for reader in readers {
        let own = await reader.value.numbers
        expectEqual(own, own.sorted(), "round \(round): \(own)")
        numbers += own
      }
      #expect(hasReturned && numbers.sorted() == Array(0..<20), "round \(round): \(numbers)")
      expectEqual(tracker.count, 0, "round \(round)")
    }
  }

  @Test("a task that is cancelled while values and the end come leaves its loop, and nothing stays subscribed")
  func cancellation() async {
    for round in 0..<rounds {
      let tracker = LifetimeTracker()
      weak var released: Subject?
      do {
        let subject = Subject()
        released = subject
        let iterator = Iterator(over: subject.prefix(15))
        let reader = Task { await iterator.rest() }
        let hasReturned = crew.run([
          { for number in 0..<20 { subject.send(parcel(number, tracker)) } },
          { reader.cancel() },
        ])
        let numbers = await reader.value.numbers
        #expect(hasReturned && numbers == numbers.sorted(), "round \(round): \(numbers)")
      }
      #expect(released == nil && tracker.count == 0, "round \(round)")
    }
  }

  @Test("a loop that is left while values come leaves nothing behind")
  func leaving() async {
    for round in 0..<rounds {
      let tracker = LifetimeTracker()
      weak var released: Subject?
      do {
        let subject = Subject()
        released = subject
        let buffered = subject.buffer(size: 100, prefetch: .byRequest, whenFull: .dropOldest)
        let reader = Task { [iterator = Iterator(over: buffered)] in await iterator.rest(atMost: 5) }
        let hasReturned = crew.run([
          { for number in 0..<20 { subject.send(parcel(number, tracker)) } },
          { for number in 0..<20 { subject.send(parcel(number, tracker)) } },
        ])
        let report = await reader.value
        #expect(hasReturned && report.numbers.count == 5 && !report.hasFailed, "round \(round): \(report)")
      }
      #expect(released == nil && tracker.count == 0, "round \(round)")
    }
  }

  /// Unchecked, because a future is made for any thread.
  private struct Promised<Failure: Error>: @unchecked Sendable {
    let future: Future<Parcel, Failure>
  }

  @Test("all tasks that await a future's value get it, those that come late, too")
  func futureValue() async throws {
    for round in 0..<rounds {
      let tracker = LifetimeTracker()
      do {
        var promise: Future<Parcel, StressFailure>.Promise?
        let promised = Promised(future: Future { promise = $0 })
        let fulfil = promise
        promise = nil
        let readers = (0..<3).map { _ in Task { try await promised.future.value.number } }
        let hasReturned = crew.run([
          { fulfil?(.success(parcel(round, tracker))) },
          { fulfil?(.failure(StressFailure())) },
        ])
        var results: [Int?] = []
        for reader in readers { results.append(try? await reader.value) }
        // Of two promises kept the first one counts, for all.
        #expect(hasReturned && (results == [round, round, round] || results == [nil, nil, nil]), "round \(round)")
        expectEqual(results.first, .some(try? await promised.future.value.number), "round \(round)")
      }
      expectEqual(tracker.count, 0, "round \(round)")
    }
  }
}
