import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("materialize")
struct MaterializeTests {
  private typealias Event = StreamEvent<Int, TestFailure>
  private let upstream = TestPublisher<Int, TestFailure>()

  @Test("turns n values and the end into n + 1 values, then finishes", arguments: [true, false])
  func events(fails: Bool) {
    let recorder = Recorder<Event, Never>()
    upstream.materialize().subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    upstream.send(completion: fails ? .failure(.transient) : .finished)
    expectEqual(recorder.values, [.value(1), .value(2), fails ? .failure(.transient) : .finished])
    #expect(recorder.isFinished)
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("keeps the end until it is asked for, when the demand was for the values alone", arguments: [true, false])
  func exactDemand(fails: Bool) {
    let recorder = Recorder<Event, Never>(requesting: .max(1))
    upstream.materialize().subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    upstream.send(completion: fails ? .failure(.transient) : .finished)
    expectEqual(recorder.values, [.value(1)])
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    expectEqual(recorder.values, [.value(1), fails ? .failure(.transient) : .finished])
    expectEqual(recorder.completions.count, 1)
  }

  @Test("cancels the upstream, and forgets an end that waits")
  func cancels() {
    let running = Recorder<Event, Never>()
    upstream.materialize().subscribe(running)
    running.cancel()
    expectEqual(upstream.cancelCount, 1)

    let waiting = Recorder<Event, Never>(requesting: .none)
    upstream.materialize().subscribe(waiting)
    upstream.send(completion: .finished)
    waiting.cancel()
    waiting.request(.max(1))
    expectEqual(waiting.events, [.subscription])
  }

  @Test("names itself")
  func names() {
    var description: String?
    upstream.materialize()
      .subscribe(AnySubscriber<Event, Never>(receiveSubscription: { description = "\($0)" }))
    expectEqual(description, "Materialize")
  }

  @Test("delivers the end once, whichever thread's request or completion comes last")
  func race() {
    for _ in 0..<200 {
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<Event, Never>(requesting: .none)
      upstream.materialize().subscribe(recorder)
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        if index == 0 { recorder.request(.max(1)) } else { upstream.send(completion: .failure(.transient)) }
      }
      expectEqual(recorder.events, [.subscription, .value(.failure(.transient)), .completion(.finished)])
    }
  }
}

@Suite("dematerialize")
struct DematerializeTests {
  private typealias Event = StreamEvent<Int, TestFailure>
  private let upstream = TestPublisher<Event, Never>()

  private func record(_ demand: Subscribers.Demand = .unlimited) -> Recorder<Int, TestFailure> {
    let recorder = Recorder<Int, TestFailure>(requesting: demand)
    upstream.dematerialize().subscribe(recorder)
    return recorder
  }

  @Test("ends with the first event that is an end, and cancels the upstream", arguments: [true, false])
  func firstEnd(fails: Bool) {
    let recorder = record()
    let connection = upstream.connections[0]
    connection.send(.value(1))
    connection.send(fails ? .failure(.transient) : .finished)
    connection.send(.value(2))
    connection.send(.finished)
    connection.send(completion: .finished)
    expectEqual(recorder.values, [1])
    expectEqual(recorder.failure, fails ? .transient : nil)
    expectEqual(recorder.completions.count, 1)
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("finishes when the upstream finishes without an end among its values")
  func upstreamFinishes() {
    let recorder = record()
    upstream.send(completion: .finished)
    upstream.send(.value(1))
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("passes demand and a cancel up")
  func demand() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2), answering: { _, _ in .max(3) })
    var held: (any Subscription)?
    upstream.dematerialize()
      .subscribe(
        AnySubscriber<Int, TestFailure>(
          receiveSubscription: {
            held = $0
            recorder.receive(subscription: $0)
          },
          receiveValue: recorder.receive(_:),
          receiveCompletion: recorder.receive(completion:)
        )
      )
    upstream.send(.value(1))
    recorder.request(.max(4))
    recorder.cancel()
    held?.request(.max(1))
    held?.cancel()
    expectEqual(upstream.requests, [.max(2), .max(3), .max(4)])
    expectEqual(upstream.cancelCount, 1)
    expectEqual(held.map { "\($0)" }, "Dematerialize")
  }

  @Test("cancels a second subscription")
  func secondSubscription() {
    let intruder = TestPublisher<Event, Never>()
    intruder.subscribe(Recorder(requesting: .none))
    _ = record()
    upstream.send(.value(1))
    upstream.connections[0].send(subscription: intruder.connections[0])
    expectEqual(intruder.cancelCount, 1)
  }

  @Test("undoes materialize, demand and all", arguments: [true, false])
  func roundTrip(fails: Bool) {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1))
    upstream.materialize().dematerialize().subscribe(recorder)
    upstream.send(1)
    recorder.request(.max(2))
    upstream.send(2)
    upstream.send(completion: fails ? .failure(.permanent) : .finished)
    expectEqual(recorder.values, [1, 2])
    expectEqual(recorder.failure, fails ? .permanent : nil)
    expectEqual(upstream.requests, [.max(1), .max(2)])
  }

  @Test("lets go of the downstream at the end")
  func releases() {
    weak var weakRecorder: Recorder<Int, TestFailure>?
    do { weakRecorder = record() }
    #expect(weakRecorder != nil)
    upstream.send(.finished)
    #expect(weakRecorder == nil)
  }
}

@Suite("values and failures")
struct ValuesAndFailuresTests {
  @Test("split a stream of events")
  func events() {
    let events: [StreamEvent<Int, TestFailure>] = [.value(1), .failure(.transient), .value(2), .finished]
    let (values, failures) = (Recorder<Int, Never>(), Recorder<TestFailure, Never>())
    events.publisher.values().subscribe(values)
    events.publisher.failures().subscribe(failures)
    expectEqual(values.values, [1, 2])
    expectEqual(failures.values, [.transient])
  }

  @Test("split a stream of results, and make good what they leave out")
  func results() {
    let results: [Result<Int, TestFailure>] = [.failure(.transient), .success(1), .success(2)]
    let (values, failures) = (Recorder<Int, Never>(requesting: .max(1)), Recorder<TestFailure, Never>())
    results.publisher.values().subscribe(values)
    results.publisher.failures().subscribe(failures)
    expectEqual(values.values, [1])
    expectEqual(failures.values, [.transient])
  }

  @Test("leave the asynchronous values of a publisher in reach")
  func asyncValues() async {
    let results: [Result<Int, TestFailure>] = [.success(1), .failure(.permanent)]
    var received: [Result<Int, TestFailure>] = []
    for await result in results.publisher.values { received.append(result) }
    expectEqual(received, results)
  }
}
