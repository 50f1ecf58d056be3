import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

/// What doc comments of ReboundTesting and ReboundHTTPTesting expect, as it stands there.
@Suite("What doc comments of the modules for tests expect")
struct ReboundTestingCommentsTests {
  private enum Failure: Error, CustomStringConvertible {
    case busy

    var description: String { "busy" }
  }

  private let scheduler = TestScheduler()

  @Test("PolicyEventLog: a decision is a line with its time")
  func policyEventLog() throws {
    let events = PolicyEvents(time: scheduler.time)
    let weather = try Pipeline<String>("weather", events: events, time: scheduler.time) {
      Retry(.init(clamping: 1, backoff: .constant(.seconds(1))))
    }
    let answers = Locked([Result<String, any Error>.failure(Failure.busy), .success("sunny")])
    let request = Deferred { answers.withLock { $0.removeFirst() }.publisher }
    let recorder = Recorder<String, any Error>()

    let log = PolicyEventLog(of: events)
    request.protected(by: weather).subscribe(recorder)
    scheduler.advance(by: .seconds(10))
    let line = "0.0 seconds warning weather: retry: attempt 1 failed (busy); retrying in 1.0 seconds (computed)"
    #expect(log.lines == [line])
  }

  @Test("Race: each round ends with one value at most")
  func races() throws {
    try race(rounds: 500, seed: 1) { round in
      let subject = PassthroughSubject<Int, Never>()
      let recorder = Recorder<Int, Never>()
      subject.subscribe(recorder)
      try round.run(
        { subject.send(1) },
        { recorder.cancel() }
      )
      #expect(recorder.values.count <= 1, "\(round)")
    }
  }

  @Test("BreakerLog: the state at the beginning, and each that came")
  func breakerLog() async throws {
    let breaker = CircuitBreaker("api", policy: try CircuitBreakerPolicy(consecutiveFailures: 1))
    let service = { () async throws -> String in throw Failure.busy }

    let log = BreakerLog(of: breaker, on: scheduler)
    _ = try? await breaker.run(time: scheduler.time) { try await service() }
    #expect(log.entries.map(\.state) == [.closed, .open])
  }

  @Test("RetryLog: the pauses, and where the policy stopped")
  func retryLog() {
    let policy = RetryPolicy<Failure>(clamping: 2, backoff: .linear(.seconds(1)))
    let publisher = Fail<Int, Failure>(error: .busy)
    let recorder = Recorder<Int, Failure>()

    let log = RetryLog()
    publisher.retry(policy.onEvent(log.write), time: scheduler.time).subscribe(recorder)
    scheduler.advance(by: .seconds(3))
    #expect(log.delays == [.seconds(1), .seconds(2), nil])
  }

  @Test("MisbehavingPublisher: its faults do not get through")
  func misbehavingPublisher() {
    let recorder = Recorder<Int, Never>()

    let publisher = MisbehavingPublisher<Int, Never>([1, 2, 3], faults: [.exceedsDemand, .completesTwice])
    publisher.prefix(1).subscribe(recorder)
    #expect(recorder.values == [1])
  }

  @Test("PublisherProbe: what nobody needs is not asked")
  func publisherProbe() {
    let cache = Just("cached").setFailureType(to: Failure.self)
    let network = Just("fresh").setFailureType(to: Failure.self)
    let recorder = Recorder<String, Failure>()

    let probe = PublisherProbe()
    cache.catch { _ in network.probed(by: probe) }.subscribe(recorder)
    #expect(!probe.wasSubscribed)  // the cache had it
  }

  @Test("Recorder: it gets what it requests, and no more")
  func recorder() {
    let publisher = (1...9).publisher

    let recorder = Recorder<Int, Never>(requesting: .max(1), on: scheduler)
    publisher.subscribe(recorder)
    recorder.request(.max(2))
    #expect(recorder.values == [1, 2, 3])
  }

  @Test("TestPublisher: a retry subscribes once more")
  func testPublisher() {
    let recorder = Recorder<Int, Failure>()

    let publisher = TestPublisher<Int, Failure>()
    publisher.retry(1).subscribe(recorder)
    publisher.send(completion: .failure(.busy))
    #expect(publisher.subscriptionCount == 2)
  }

  @Test("TestScheduler: time moves when a test says so")
  func testScheduler() {
    let typed = PassthroughSubject<String, Never>()

    let scheduler = TestScheduler()
    let recorder = Recorder<String, Never>(on: scheduler)
    typed.debounce(for: 0.8, scheduler: scheduler).subscribe(recorder)

    typed.send("a")
    scheduler.advance(by: 0.8)
    #expect(recorder.values == ["a"])
  }

  @Test("ScriptedTransport: each attempt takes a step of the script")
  func scriptedTransport() throws {
    struct Forecast: Request {
      var path: RequestPath { "forecast" }
      typealias Response = Data
    }
    let service = try #require(URL(string: "https://api.example"))
    let retrying = Retrying(.http(RetryPolicy(clamping: 2, backoff: .constant(.seconds(2)))))
    let recorder = Recorder<Data, NetworkFailure>()

    let transport = ScriptedTransport([.refused, .timeout, .ok(#"{}"#)], time: scheduler.time)
    let client = WebAPIClient(
      baseURL: service,
      transport: transport,
      middleware: [retrying],  // two retries, two seconds apart
      deliveringOn: nil,
      time: scheduler.time
    )
    client.publisher(for: Forecast()).subscribe(recorder)  // a Request of yours
    scheduler.advance(by: .seconds(4))
    #expect(transport.calls.map(\.time) == [.zero, .seconds(2), .seconds(4)])
    #expect(recorder.values == [Data("{}".utf8)])
  }
}
