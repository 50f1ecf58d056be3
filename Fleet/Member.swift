#if Redis
  import Foundation
  import Rebound
  import ReboundRedis
  import StreamSupport

  /// One process of a run.
  struct Member {
    private let command: Command
    private let number: Int
    private let sharesPolicies: Bool
    private let fleet: Fleet

    init(_ command: Command) throws {
      self.command = command
      number = try command.number("number", 1)
      sharesPolicies = command.text("policies") != "local"
      fleet = try Fleet("run", at: .tcp("127.0.0.1", port: try command.number("port", 6379)), instances: 10)
    }

    func run() async throws {
      while sharesPolicies, !fleet.isJoined { try await pause(0.01) }
      if let port = command.text("service").flatMap({ Int($0) }) {
        try await call(port)
      } else {
        try await beginAsFastAsMayBe()
      }
    }

    /// Begins calls as fast as the limit lets it, and says when each began.
    private func beginAsFastAsMayBe() async throws {
      let policy = try RateLimiterPolicy.tokenBucket(try command.number("rate", 1_000), per: .seconds(1), burst: 1)
        .waiting(atMost: .seconds(1))
      let shared = try fleet.rateLimiter("limit", policy: policy)
      let own = RateLimiter("limit", policy: policy)
      let sharesPolicies = sharesPolicies
      await begin {
        if sharesPolicies { try await shared.run { say("begins \(milliseconds)") } } else {
          try await own.run { say("begins \(milliseconds)") }
        }
      }
    }

    private func begin(_ call: @escaping @Sendable () async throws -> Void) async {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<50 { group.addTask { while !Task.isCancelled { await beginOnce(call) } } }
      }
    }

    private func beginOnce(_ call: @Sendable () async throws -> Void) async {
      do { try await call() } catch {
        // More wait than the limit lets begin within a second.
        try? await pause(0.01)
      }
    }

    /// Calls a service at a steady rate, and says each tenth of a second what came of it.
    private func call(_ port: Int) async throws {
      let limit = try command.number("rate", 500)
      let service = Service(port: port, isBroken: command.text("broken") == "\(number)")
      let policy = RetryPolicy<any Error>(clamping: 2, backoff: .exponential(from: .milliseconds(50)))
        .when { !($0 is RateLimited) }
      // A refusal of the limiter, which stands inside so that retries count, too, is no sign of a sick service.
      let speaksAgainst: @Sendable (any Error) -> Bool = { !($0 is RateLimited) }
      let breaking = try CircuitBreakerPolicy.consecutive(10, openFor: .seconds(1))
      let pipeline: Pipeline<Int>
      let breaker: CircuitBreaker
      if sharesPolicies {
        let budget = try fleet.budget("service", ratio: 0.1)
        let shared = try fleet.circuitBreaker("service", policy: breaking, failingWhen: speaksAgainst)
        let limiter = try fleet.rateLimiter("service", policy: .tokenBucket(limit, per: .seconds(1), burst: limit / 20 + 1))
        breaker = shared
        pipeline = try Pipeline("service") {
          Retry(policy, budget: budget)
          shared
          limiter
        }
      } else {
        let budget = try RetryBudget.ratio(0.1)
        let own = CircuitBreaker("service", policy: breaking, failingWhen: speaksAgainst)
        // A guess: five processes.
        let limiter = RateLimiter("service", policy: try .tokenBucket(limit / 5 + 1, per: .seconds(1), burst: limit / 20 + 1))
        breaker = own
        pipeline = try Pipeline("service") {
          Retry(policy, budget: budget)
          own
          limiter
        }
      }
      breaker.onEvent { event in
        if case .changed(_, .open, _) = event.kind { say("opens \(milliseconds)") }
      }
      // Very unequal loads: the tenth process has ten times that of the first.
      let callsPerSecond = Double(limit * 2 * number) / 55
      var owed = 0.0
      var last = TimeSource.system.now
      while true {
        try await pause(0.02)
        let now = TimeSource.system.now
        owed += callsPerSecond * (now - last).inSeconds
        last = now
        while owed >= 1 {
          owed -= 1
          Task { [pipeline] in
            do {
              _ = try await pipeline.run { try await service.call() }
              service.succeeded()
            } catch {
              // Refusals and failures are what the run is about; the attempts are counted where they are made.
            }
          }
        }
        service.report()
      }
    }
  }

  /// The service that members call: another server, asked for a number.
  final class Service: Sendable {
    private struct Counts {
      var attempts = 0
      var successes = 0
      var reported = 0
    }

    private let loop: RedisLoop
    private let isBroken: Bool
    private let start = milliseconds
    private let counts = Locked(Counts())

    init(port: Int, isBroken: Bool) {
      self.isBroken = isBroken
      loop = RedisLoop(
        .init(
          address: .tcp("127.0.0.1", port: port),
          connectLimit: .seconds(1),
          silenceLimit: .seconds(1),
          maxWaiting: 100_000,
          reconnect: RetryPolicy(clamping: nil, backoff: .constant(.milliseconds(20))),
          scripts: []
        )
      ) { _ in }
      loop.start()
    }

    func call() async throws -> Int {
      counts.withLock { $0.attempts += 1 }
      // The network of this process is broken for three seconds.
      if isBroken, (2_000..<5_000).contains(milliseconds - start) { throw RedisFailure.disconnected }
      let reply = try await withCheckedThrowingContinuation { continuation in
        loop.post(RedisRequest(RedisCommand("INCR", "calls"), limit: .milliseconds(200)) { continuation.resume(with: $0) })
      }
      guard let number = reply.integer else { throw RedisFailure.unexpected("\(reply)") }
      return number
    }

    func succeeded() { counts.withLock { $0.successes += 1 } }

    func report() {
      let line: String? = counts.withLock { counts in
        let now = milliseconds
        guard now - counts.reported >= 100 else { return nil }
        defer { counts = Counts(reported: now) }
        return "calls \(now) \(counts.attempts) \(counts.successes)"
      }
      if let line { say(line) }
    }
  }
#endif
