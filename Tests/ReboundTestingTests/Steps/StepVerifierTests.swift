import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("StepVerifier")
struct StepVerifierTests {
  private enum Failed: Error, Equatable {
    case one, other
  }

  private let scheduler = TestScheduler()
  private let source = TestPublisher<String, Failed>()

  @Test("takes a chain through a whole life, step by step")
  func life() throws {
    let typed = PassthroughSubject<String, Failed>()
    let recorder = try StepVerifier(typed.debounce(for: 0.8, scheduler: scheduler), on: scheduler)
      .expectSubscription()
      .thenRun { typed.send("a") }
      .expectNoEvent(for: 0.7)
      .thenAdvance(by: 0.1)
      .expectNext("a")
      .thenRun { typed.send("b") }
      .thenAdvance(by: 0.8)
      .expectNext("of one letter") { $0.count == 1 }
      .thenRun { typed.send(completion: .failure(.one)) }
      .expectFailure(.one)
      .expectRelease()
      .verify()
    expectEqual(recorder.values, ["a", "b"])
  }

  @Test("requests and cancels as it is told")
  func demand() throws {
    try StepVerifier((1...5).publisher, requesting: .none)
      .expectNoEvent(for: 1)
      .thenRequest(.max(2))
      .expectNext(1, 2)
      .expectOutstanding(.none)
      .thenRequest(.max(2))
      .expectNextCount(2)
      .thenCancel()
      .expectRelease()
      .verify()
    try StepVerifier(Just(1)).expectNext(1).expectFinish().verify()
    try StepVerifier(Fail<Int, Failed>(error: .one)).expectFailure().verify()
  }

  @Test("can be verified again, each time with a subscription of its own")
  func again() throws {
    let verifier = StepVerifier(source, on: scheduler).thenCancel()
    try verifier.verify()
    try verifier.verify()
    expectEqual(source.subscriptionCount, 2)
  }

  @Test("cancels what a script leaves running")
  func cancelsRest() throws {
    try StepVerifier(source).verify()
    expectEqual(source.cancelCount, 1)
  }

  @Test("says which step went wrong, where it stands, and what had come")
  func message() {
    let line = #line + 4
    let verifier = StepVerifier(source, on: scheduler)
      .thenRun { source.send("a") }
      .thenAdvance(by: 2)
      .expectNext("b")
      .expectFinish()
    let failure = #expect(throws: StepFailure.self) { try verifier.verify() }
    expectEqual(failure?.step, 3)
    expectEqual(failure?.location.line, line)
    expectEqual(
      failure?.description,
      """
      StepVerifierTests.swift:\(line), step 3, expectNext("b"): expected the value "b", but the value "a" came at 0.0 s.
      What had come:
        0.0 s  the subscription
        0.0 s  the value "a"
      """
    )
  }

  @Test("says what to do about an event that does not come")
  func hints() {
    let silent = StepVerifier(Empty<Int, Never>(completeImmediately: false)).expectNext(1)
    expectEqual(problem(silent), "expected the value 1 at 0.0 s, but nothing has come. No work waits in the scheduler.")
    let late = StepVerifier(Just(1).delay(for: 3, scheduler: scheduler), on: scheduler).expectNext(1)
    expectEqual(
      problem(late),
      "expected the value 1 at 0.0 s, but nothing has come. The next work is due at 3.0 s; thenAdvance moves time on."
    )
    let unasked = StepVerifier([1, 2].publisher, requesting: .max(1)).expectNext(1, 2)
    expectEqual(
      problem(unasked),
      "expected the value 2 at 0.0 s, but nothing has come. Nothing is outstanding; thenRequest asks for more."
    )
  }

  @Test("refuses what a step does not expect")
  func refuses() {
    let one = Just(1)
    expectEqual(problem(StepVerifier(one).expectFinish()), "expected the finish, but the value 1 came at 0.0 s.")
    expectEqual(
      problem(StepVerifier(one).expectNext("under 0") { $0 < 0 }),
      "expected a value, under 0, but the value 1 came at 0.0 s."
    )
    expectEqual(problem(StepVerifier(one).expectNextCount(2)), "expected value 2 of 2, but the finish came at 0.0 s.")
    expectEqual(problem(StepVerifier(one).expectNext(1)), "the finish came at 0.0 s, and no step expects it.")
    expectEqual(
      problem(StepVerifier(one).expectNoEvent(for: 1)),
      "expected no event, but the value 1 had come at 0.0 s already."
    )
    let delayed = one.delay(for: 1, scheduler: scheduler)
    expectEqual(
      problem(StepVerifier(delayed, on: scheduler).expectNoEvent(for: 1)),
      "expected no event until 1.0 s, but the value 1 came at 1.0 s."
    )
    let failing = Fail<Int, Failed>(error: .one)
    expectEqual(
      problem(StepVerifier(failing).expectFailure(.other)),
      "expected the failure other, but the failure one came at 0.0 s."
    )
    expectEqual(
      problem(StepVerifier(failing).expectFailure { $0 == .other }),
      "expected a failure as described, but the failure one came at 0.0 s."
    )
    expectEqual(
      problem(StepVerifier(one, requesting: .none).expectOutstanding(.max(1))),
      "expected 1 to be outstanding, but it is requested 0, delivered 0, outstanding 0."
    )
    expectEqual(
      problem(StepVerifier(one).thenCancel().expectSubscription().expectSubscription()),
      "expected the subscription, but the value 1 came at 0.0 s."
    )
  }

  @Test("checks the laws of all streams on the way")
  func laws() {
    func problem(_ faults: PublisherFaults, requesting demand: Subscribers.Demand = .unlimited) -> String? {
      self.problem(
        StepVerifier(MisbehavingPublisher<Int, Never>([1, 2], faults: faults), requesting: demand)
          .expectNext(1, 2).expectFinish()
      )
    }
    expectEqual(
      problem(.exceedsDemand, requesting: .max(1)),
      "1 values came beyond the demand (requested 1, delivered 2, outstanding 0, 1 in excess)."
    )
    expectEqual(problem(.completesTwice), "the finish came at 0.0 s, after the end: it would be dropped.")
    expectEqual(problem(.sendsAfterCompletion), "the value 2 came at 0.0 s, after the end: it would be dropped.")
    expectEqual(problem(.withholdsSubscription), "the value 1 came at 0.0 s, before the subscription.")
    expectEqual(problem(.subscribesTwice), "a second subscription, or a late one, came at 0.0 s.")
    let late = TestPublisher<Int, Never>(handingOver: { subscriber in
      subscriber.receive(subscription: Subscriptions.empty)
      scheduler.schedule(after: .start.advanced(by: 1)) { _ = subscriber.receive(5) }
    })
    expectEqual(
      self.problem(StepVerifier(late, on: scheduler).thenCancel().thenAdvance(by: 1)),
      "the value 5 came at 1.0 s, after the cancel: it would be dropped."
    )
    let loud = TestPublisher<Int, Never>(handingOver: { $0.receive(subscription: LoudSubscription($0)) })
    expectEqual(
      self.problem(StepVerifier(loud).thenCancel().expectNext(6)),
      "the value 6 came at 0.0 s, after the cancel: it would be dropped."
    )
  }

  /// Sends a value from inside the cancel.
  private final class LoudSubscription: Subscription {
    private let subscriber: AnySubscriber<Int, Never>

    init(_ subscriber: AnySubscriber<Int, Never>) {
      self.subscriber = subscriber
    }

    func request(_ demand: Subscribers.Demand) {}
    func cancel() { _ = subscriber.receive(6) }
  }

  // Takes seconds, and would take an hour if each event were held against all before it: a limit against that, which no busy
  // machine comes near.
  @Test("checks the laws of a long stream in time that grows as it does", .timeLimit(.minutes(30)))
  func longStream() throws {
    try StepVerifier((0..<60_000).publisher).expectNextCount(60_000).expectFinish().verify()
  }

  @Test("finds a chain that holds its subscriber after the end")
  func leak() {
    expectEqual(
      problem(StepVerifier(source).thenRun { source.send(completion: .finished) }.expectFinish().expectRelease()),
      "the subscriber has leaked: the chain holds it after the end."
    )
    expectEqual(
      problem(StepVerifier(source).expectRelease()),
      "the stream has neither ended nor been cancelled, so it may hold its subscriber."
    )
  }

  private func problem<Output, Failure>(_ verifier: StepVerifier<Output, Failure>) -> String? {
    do throws(StepFailure) {
      try verifier.verify()
      return nil
    } catch {
      return error.problem
    }
  }
}
