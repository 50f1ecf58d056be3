import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("asResult")
struct AsResultTests {
  private let upstream = TestPublisher<Int, TestFailure>()

  @Test("turns values and the failure into results, then finishes")
  func results() {
    let recorder = Recorder<Result<Int, TestFailure>, Never>()
    upstream.asResult().subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    upstream.send(completion: .failure(.transient))
    expectEqual(recorder.values, [.success(1), .success(2), .failure(.transient)])
    #expect(recorder.isFinished)
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("passes the finish on without demand")
  func finishes() {
    let recorder = Recorder<Result<Int, TestFailure>, Never>(requesting: .none)
    upstream.asResult().subscribe(recorder)
    upstream.send(completion: .finished)
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("holds the failure until a value is requested")
  func holdsFailure() {
    let recorder = Recorder<Result<Int, TestFailure>, Never>(requesting: .max(1))
    upstream.asResult().subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .failure(.transient))
    expectEqual(recorder.values, [.success(1)])
    #expect(recorder.completion == nil)
    recorder.request(.none)
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    expectEqual(recorder.values, [.success(1), .failure(.transient)])
    expectEqual(recorder.completions.count, 1)
    recorder.request(.max(1))
    expectEqual(recorder.events.count, 4)
  }

  @Test("passes demand up, and what a value brings back to the upstream")
  func demand() {
    let recorder = Recorder<Result<Int, TestFailure>, Never>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.asResult().subscribe(recorder)
    recorder.request(.max(4))
    expectEqual(upstream.requests, [.max(2), .max(4)])
    upstream.send(1)
    expectEqual(upstream.requests, [.max(2), .max(4), .max(3)])
  }

  @Test("counts demand that a value brings towards the failure")
  func demandForFailure() {
    let recorder = Recorder<Result<Int, TestFailure>, Never>(requesting: .max(1), answering: { _, _ in .max(1) })
    upstream.asResult().subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .failure(.transient))
    expectEqual(recorder.values, [.success(1), .failure(.transient)])
  }

  @Test("delivers a failure that comes from inside a value, with the demand that the value brings")
  func failureInsideValue() {
    let upstream = upstream
    let recorder = Recorder<Result<Int, TestFailure>, Never>(
      requesting: .max(1),
      answering: { result, _ in
        if case .success = result { upstream.send(completion: .failure(.transient)) }
        return .max(1)
      }
    )
    upstream.asResult().subscribe(recorder)
    expectEqual(upstream.send(1), .none)
    expectEqual(recorder.values, [.success(1), .failure(.transient)])
    #expect(recorder.isFinished)
  }

  @Test("drops what an upstream sends beyond the demand, or after its end")
  func misbehavingUpstream() {
    let recorder = Recorder<Result<Int, TestFailure>, Never>(requesting: .max(1))
    upstream.asResult().subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    upstream.send(completion: .failure(.transient))
    upstream.send(3)
    upstream.send(completion: .failure(.permanent))
    upstream.send(completion: .finished)
    recorder.request(.unlimited)
    upstream.send(4)
    upstream.send(completion: .failure(.permanent))
    expectEqual(recorder.values, [.success(1), .failure(.transient)])
    expectEqual(recorder.completions.count, 1)
  }

  @Test("cancels the upstream, once")
  func cancels() {
    let recorder = Recorder<Result<Int, TestFailure>, Never>()
    upstream.asResult().subscribe(recorder)
    recorder.cancel()
    recorder.cancel()
    expectEqual(upstream.cancelCount, 1)
    upstream.send(1)
    expectEqual(recorder.events, [.subscription])
  }

  @Test("forgets a held failure when it is cancelled")
  func cancelsWhileHolding() {
    let recorder = Recorder<Result<Int, TestFailure>, Never>(requesting: .none)
    var held: (any Subscription)?
    upstream.asResult()
      .subscribe(
        AnySubscriber<Result<Int, TestFailure>, Never>(
          receiveSubscription: {
            held = $0
            recorder.receive(subscription: $0)
          },
          receiveValue: recorder.receive(_:),
          receiveCompletion: recorder.receive(completion:)
        )
      )
    upstream.send(completion: .failure(.transient))
    recorder.cancel()
    held?.request(.unlimited)
    expectEqual(recorder.events, [.subscription])
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("does not finish when the failure's value makes the downstream cancel")
  func cancelInsideFailure() {
    let recorder = Recorder<Result<Int, TestFailure>, Never>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    upstream.asResult().subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    expectEqual(recorder.events, [.subscription, .value(.failure(.transient))])
  }

  @Test("cancels a second subscription")
  func secondSubscription() {
    let intruder = TestPublisher<Int, TestFailure>()
    intruder.subscribe(Recorder(requesting: .none))
    let recorder = Recorder<Result<Int, TestFailure>, Never>()
    upstream.asResult().subscribe(recorder)
    upstream.connections[0].send(subscription: intruder.connections[0])
    expectEqual(intruder.cancelCount, 1)
    expectEqual(recorder.subscriptionCount, 1)
  }

  @Test("lets go of the downstream at the end")
  func releases() {
    weak var weakRecorder: Recorder<Result<Int, TestFailure>, Never>?
    do {
      let recorder = Recorder<Result<Int, TestFailure>, Never>()
      weakRecorder = recorder
      upstream.asResult().subscribe(recorder)
      upstream.send(completion: .failure(.transient))
    }
    #expect(weakRecorder == nil)
  }
}

@Suite("flatMapLatestResult")
struct FlatMapLatestResultTests {
  private let names = TestPublisher<String, Never>()
  private let answers = TestPublisher<Int, TestFailure>()

  @Test("survives a failure, and lets no stale answer win")
  func survives() {
    let recorder = Recorder<Result<Int, TestFailure>, Never>()
    names.flatMapLatestResult { [answers] _ in answers }.subscribe(recorder)
    names.send("a")
    answers.send(completion: .failure(.transient))
    names.send("b")
    names.send("c")
    expectEqual(answers.connections.map(\.isCancelled), [false, true, false])
    answers.connections[1].send(1)
    answers.connections[2].send(2)
    answers.connections[2].send(completion: .finished)
    #expect(recorder.completion == nil)
    names.send(completion: .finished)
    expectEqual(recorder.values, [.failure(.transient), .success(2)])
    #expect(recorder.isFinished)
  }

  @Test("fails only with the failure of the outer stream")
  func outerFailure() {
    let names = TestPublisher<String, TestFailure>()
    let recorder = Recorder<Result<Int, TestFailure>, TestFailure>()
    names.flatMapLatestResult { [answers] _ in answers }.subscribe(recorder)
    names.send("a")
    answers.send(completion: .failure(.transient))
    names.send(completion: .failure(.permanent))
    expectEqual(recorder.values, [.failure(.transient)])
    expectEqual(recorder.failure, .permanent)
  }
}
