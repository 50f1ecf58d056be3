import Combine
import Rebound
import ReboundLoadBalancing
import ReboundTesting
import Testing

/// The code of the pages in Sources/Rebound/Rebound.docc/Policies on sparing services, as it stands there.
@Suite("The code of the pages on protection")
struct ProtectionPagesTests {
  private struct Outage: Error {}

  private let scheduler = TestScheduler()

  @Test("a breaker opens, refuses, and closes after a probe that works")
  func breakers() async throws {
    try await TimeSource.$current.withValue(scheduler.time) {
      let breaker = CircuitBreaker("weather", policy: try .consecutive(3, openFor: .seconds(30)))
      for _ in 1...3 { _ = try? await breaker.run { throw Outage() } }
      #expect(breaker.state == .open)
      await #expect(throws: CircuitOpen.self) { try await breaker.run {} }
      scheduler.advance(by: .seconds(30))
      try await breaker.run {}
      #expect(breaker.state == .closed)
    }
  }

  @Test("a host that is down opens its own breaker alone")
  func keyed() async throws {
    try await TimeSource.$current.withValue(scheduler.time) {
      let policy = try CircuitBreakerPolicy.consecutive(2, openFor: .seconds(30))
      let breakers = Keyed<String, CircuitBreaker> { host in CircuitBreaker(host, policy: policy) }
      for _ in 1...2 { _ = try? await breakers["a.example"].run { throw Outage() } }
      #expect(breakers["a.example"].state == .open)
      let forecast = try await breakers["b.example"].run { "sunny" }
      #expect(forecast == "sunny")

      let pipelines = KeyedPipelines<String, String>(pipelines: { host in
        try Pipeline<String>(host) {
          Retry(.init(clamping: 1, backoff: .immediate))
          breakers[host]
        }
      })
      let answer = try await pipelines.pipeline(for: "b.example").run { "rain" }
      #expect(answer == "rain")
    }
  }

  @Test("one call runs, one waits, and the third is refused")
  func bulkheads() throws {
    let time = scheduler.time
    let report = PassthroughSubject<String, any Error>()
    var subscriptions: Set<AnyCancellable> = []
    var ends: [String] = []

    let bulkhead = Bulkhead("reports", policy: try BulkheadPolicy(maxConcurrent: 1, maxQueue: 1, maxWait: .seconds(5)))
    for number in 1...3 {
      report
        .limited(by: bulkhead, time: time)
        .sink {
          if case .failure(let error) = $0 { ends.append("\(number): \(error)") }
        } receiveValue: { _ in
        }
        .store(in: &subscriptions)
    }
    #expect(ends == ["3: reports is too busy; try again later. 1 calls may run at the same time, and 1 wait."])
    scheduler.advance(by: .seconds(5))
    #expect(
      ends.last
        == "2: reports was too busy for 5.0 seconds; try again later. 1 calls may run at the same time, and 0 wait."
    )
  }

  @Test("an adaptive limit goes down with refusals of the service, and up again")
  func adaptiveLimits() async throws {
    try await TimeSource.$current.withValue(scheduler.time) {
      let bulkhead = Bulkhead(
        "search",
        policy: try BulkheadPolicy(maxConcurrent: 10, maxQueue: 50),
        adapting: try .aimd(in: 1...100),
        overloadedWhen: { $0 is Outage }
      )
      for _ in 1...5 { _ = try? await bulkhead.run { throw Outage() } }
      #expect(bulkhead.snapshot.limit == 5)
    }
  }

  @Test("calls beyond the rate wait for their turn, and no longer than they may")
  func rateLimits() throws {
    let time = scheduler.time
    let request = Just("sunny").setFailureType(to: (any Error).self)
    var subscriptions: Set<AnyCancellable> = []
    var log: [String] = []

    let limiter = RateLimiter(
      "weather",
      policy: try .tokenBucket(2, per: .seconds(1)).waiting(atMost: .milliseconds(500))
    )
    for _ in 1...4 {
      request
        .rateLimited(by: limiter, time: time)
        .sink {
          if case .failure(let error) = $0 { log.append("\(error)") }
        } receiveValue: {
          log.append($0)
        }
        .store(in: &subscriptions)
    }
    let refusal = "weather is called too often; try again in 1.0 seconds. 1 calls wait."
    #expect(log == ["sunny", "sunny", refusal])
    scheduler.advance(by: .milliseconds(500))
    #expect(log.last == "sunny")
  }

  @Test("a throttle refuses a share of the calls that the service would refuse")
  func throttles() async {
    await TimeSource.$current.withValue(scheduler.time) {
      let time = scheduler.time
      var attempts = 0
      var isFreeAgain = Duration.zero

      let throttle = AdaptiveThrottle("weather", random: .seeded(1))
      for _ in 1...1000 {
        scheduler.advance(by: .milliseconds(10))
        _ = try? await throttle.run {
          attempts += 1
          if time.now < isFreeAgain { throw Outage() }  // the service accepts ten in a second
          isFreeAgain = time.now + .milliseconds(100)
        }
      }
      #expect(attempts == 134)

      #expect(throttle.snapshot().requests == 1000)
    }
  }

  @Test("an attempt goes to another replica than the one before")
  func balancing() async throws {
    try await TimeSource.$current.withValue(scheduler.time) {
      var asked: [String] = []

      let replicas = try LoadBalancer("weather", among: ["a.example", "b.example"], random: .seeded(1))
      let call = replicas.makeCall()
      let answer = try await RetryPolicy<any Error>(clamping: 1, backoff: .immediate).run {
        try await call.run { host in
          asked.append(host)
          if asked.count == 1 { throw Outage() }
          return "sunny"
        }
      }
      #expect(answer == "sunny")
      #expect(Set(asked) == ["a.example", "b.example"])
    }
  }

  @Test("retries that keep a service down raise the alarm, and are refused")
  func metastability() async throws {
    let log = Lines()
    let time = scheduler.time
    let attempts = Lines()
    // The service answers for three seconds, and from then on one attempt of ten.
    let forecast: @Sendable () async throws -> String = {
      attempts.write("asked")
      let number = attempts.all.count
      if number > 30, number % 10 != 0 { throw Outage() }
      return "sunny"
    }

    let policy = try MetastabilityPolicy(refusesRetries: true)
    let detector = MetastabilityDetector("weather", policy: policy)
    let events = PolicyEvents()
    let listening = events.sink { log.write("\($0)") }
    let weather = try Pipeline<String>("weather", events: events, time: time) {
      detector.requests
      Retry(.init(clamping: 3, backoff: .immediate))
      detector
    }
    for _ in 1...80 {
      scheduler.advance(by: .milliseconds(100))
      _ = try? await weather.run { try await forecast() }
    }
    #expect(log.all.contains { $0.hasPrefix("weather: metastability detector: ") })

    listening.cancel()
    #expect(detector.snapshot(on: time).isSuspected)
  }
}
