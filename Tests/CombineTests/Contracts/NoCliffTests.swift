import Combine
import Expectations
import ReboundTesting
import Testing

/// Sizes at which recursion or a quadratic algorithm would show: by a crash, or by a test that does not end.
@Suite("no cliff")
struct NoCliffTests {
  struct Refused: Error {}

  // ThreadSanitizer keeps a record of calls that has room for 65,536 of them, about ten for each stage.
  private let stageCount = isSanitized ? 2_000 : 5_000

  @Test("thousands of erased stages pass values and the end, and are released")
  func erasedStages() {
    onDefaultStack {
      let subject = PassthroughSubject<Int, Never>()
      var sum = 0
      var hasEnded = false
      do {
        var chain = subject.eraseToAnyPublisher()
        for _ in 0..<stageCount { chain = chain.map { $0 + 1 }.eraseToAnyPublisher() }
        let handle = chain.sink(receiveCompletion: { _ in hasEnded = true }, receiveValue: { sum += $0 })
        subject.send(1)
        subject.send(2)
        subject.send(completion: .finished)
        handle.cancel()
      }
      expectEqual(sum, 2 * stageCount + 3)
      #expect(hasEnded)
    }
  }

  @Test("40,000 retries of a publisher that fails at once do not grow the stack")
  func retries() {
    onDefaultStack {
      var attempts = 0
      var hasFailed = false
      let handle = Deferred { () -> Fail<Int, Refused> in
        attempts += 1
        return Fail(error: Refused())
      }
      .retry(40_000)
      .sink(
        receiveCompletion: { if case .failure = $0 { hasFailed = true } },
        receiveValue: { _ in Issue.record("there is no value") }
      )
      expectEqual(attempts, 40_001)
      #expect(hasFailed)
      handle.cancel()
    }
  }

  @Test("thousands of appends, one inside the other, deliver all in order")
  func nestedAppends() {
    onDefaultStack {
      var chain = Just(0).eraseToAnyPublisher()
      for number in 1...stageCount { chain = chain.append(Just(number)).eraseToAnyPublisher() }
      var values: [Int] = []
      var hasEnded = false
      let handle = chain.sink(receiveCompletion: { _ in hasEnded = true }, receiveValue: { values.append($0) })
      expectEqual(values, Array(0...stageCount))
      #expect(hasEnded)
      handle.cancel()
    }
  }

  @Test("20,000 publishers that are merged, and answer at once, do not pile up when all are asked")
  func mergeOfMany() {
    onDefaultStack {
      let recorder = Recorder<Int, Never>(requesting: .none)
      Publishers.MergeMany((0..<20_000).map { _ in [1, 2].publisher }).subscribe(recorder)
      recorder.request(.unlimited)
      expectEqual(recorder.values.count, 40_000)
      #expect(recorder.isFinished)
      let careful = Recorder<Int, Never>(requesting: .none)
      Publishers.MergeMany((0..<20_000).map { _ in [1, 2].publisher }).subscribe(careful)
      careful.request(.max(40_000))
      expectEqual(careful.values.count, 40_000)
      #expect(careful.isFinished)
    }
  }

  @Test("20,000 publishers that flatMap made, and that answer at once, do not pile up when all are asked")
  func flatMapToMany() {
    onDefaultStack {
      let recorder = Recorder<Int, Never>(requesting: .none)
      (0..<20_000).publisher.flatMap { _ in [1, 2].publisher }.subscribe(recorder)
      recorder.request(.max(20_000))
      recorder.request(.max(20_000))
      expectEqual(recorder.values.count, 40_000)
      #expect(recorder.isFinished)
    }
  }

  @Test("zip pairs what one side sent 100,000 values ahead")
  func zipFarAhead() {
    onDefaultStack {
      let ahead = PassthroughSubject<Int, Never>()
      let behind = PassthroughSubject<Int, Never>()
      var pairCount = 0
      let handle = ahead.zip(behind).sink { pairCount += $0.0 == $0.1 ? 1 : 0 }
      for number in 0..<100_000 { ahead.send(number) }
      for number in 0..<100_000 { behind.send(number) }
      expectEqual(pairCount, 100_000)
      handle.cancel()
    }
  }

  @Test("100,000 subscribers of one subject attach, get a value, and detach in any order")
  func manySubscribers() {
    onDefaultStack {
      let subject = PassthroughSubject<Int, Never>()
      var received = 0
      var handles = (0..<100_000).map { _ in subject.sink { received += $0 } }
      subject.send(1)
      expectEqual(received, 100_000)
      var numbers = SeededRandom(seed: 7)
      handles.shuffle(using: &numbers)
      for handle in handles.prefix(50_000) { handle.cancel() }
      subject.send(1)
      expectEqual(received, 150_000)
      handles.removeAll()
      subject.send(1)
      expectEqual(received, 150_000)
    }
  }
}
