import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("recover")
struct RecoverTests {
  private let upstream = TestPublisher<Int, TestFailure>()

  @Test("recovers from the failures that the handler knows, and passes the others on")
  func handler() {
    for error in [TestFailure.transient, .permanent] {
      let recorder = Recorder<Int, TestFailure>()
      upstream
        .recover { $0 == .transient ? Just(0).setFailureType(to: TestFailure.self) : nil }
        .subscribe(recorder)
      upstream.send(1)
      upstream.send(completion: .failure(error))
      expectEqual(recorder.values, error == .transient ? [1, 0] : [1])
      expectEqual(recorder.failure, error == .transient ? nil : .permanent)
      expectEqual(recorder.completions.count, 1)
    }
  }

  @Test("recovers from one certain failure")
  func equal() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.recover(from: .numbered(1)) { Just(0).setFailureType(to: TestFailure.self) }.subscribe(recorder)
    upstream.send(completion: .failure(.numbered(2)))
    expectEqual(recorder.failure, .numbered(2))
  }

  @Test("recovers from failures of one type, and hands them over as such", arguments: [true, false])
  func type(matches: Bool) {
    let upstream = TestPublisher<Int, any Error>()
    let recorder = Recorder<Int, any Error>()
    upstream
      .recover(from: TestFailure.self) { error in
        Just(error == .numbered(7) ? 7 : 0).setFailureType(to: (any Error).self)
      }
      .subscribe(recorder)
    upstream.send(completion: .failure(matches ? TestFailure.numbered(7) : CancellationError()))
    expectEqual(recorder.values, matches ? [7] : [])
    expectEqual(recorder.failure is CancellationError, !matches)
  }

  @Test("carries what is still owed to what it goes on with")
  func demand() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2))
    let other = TestPublisher<Int, TestFailure>()
    upstream.recover { _ in other }.subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .failure(.transient))
    recorder.request(.max(3))
    expectEqual(other.requests, [.max(1), .max(3)])
    recorder.cancel()
    expectEqual(other.cancelCount, 1)
  }

  @Test("finishes in place of a failure, or of some")
  func onErrorComplete() {
    let all = Recorder<Int, Never>()
    upstream.onErrorComplete().subscribe(all)
    upstream.send(1)
    upstream.send(completion: .failure(.permanent))
    expectEqual(all.values, [1])
    #expect(all.isFinished)
    for error in [TestFailure.transient, .permanent] {
      let some = Recorder<Int, TestFailure>()
      upstream.onErrorComplete(when: \.isTransient).subscribe(some)
      upstream.send(completion: .failure(error))
      expectEqual(some.isFinished, error.isTransient)
      expectEqual(some.failure, error.isTransient ? nil : error)
    }
  }

  @Test("tells of a failure before it goes on")
  func report() {
    let log = Log<TestFailure>()
    let recorder = Recorder<Int, Never>(requesting: .none)
    upstream.catchAndReport(to: log.write, with: 0).subscribe(recorder)
    upstream.send(completion: .failure(.permanent))
    expectEqual(log.entries, [.permanent])
    expectEqual(recorder.values, [])
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    expectEqual(recorder.values, [0])
    #expect(recorder.isFinished)

    let other = Recorder<Int, TestFailure>()
    upstream
      .catchAndReport(to: log.write) { _ in Fail<Int, TestFailure>(error: .numbered(2)) }
      .subscribe(other)
    upstream.send(completion: .failure(.transient))
    expectEqual(log.entries, [.permanent, .transient])
    expectEqual(other.failure, .numbered(2))
  }
}
