import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("TokenRefresher")
struct TokenRefresherTests {
  private let scheduler = TestScheduler()
  private let renewal = TestPublisher<String, TestFailure>()
  private let log = EventLog<TokenRefreshEvent>()

  private func makeRefresher(
    _ policy: TokenRefreshPolicy = .standard,
    lifetime: Duration? = nil
  ) -> TokenRefresher<String> {
    let refresher = TokenRefresher<String>(
      policy: policy,
      lifetime: { _ in lifetime },
      rejectedWhen: { $0 == .permanent },
      refreshingWith: { [renewal] _ in renewal.eraseToAnyPublisher() }
    )
    refresher.onEvent(log.write)
    refresher.signIn(with: "A", at: scheduler.elapsed)
    return refresher
  }

  /// What one who asked was told.
  private final class Asked {
    var values: [String] = []
    var failure: TokenRefreshFailure?
    var waiter: (any Cancellable)?
  }

  private func ask(
    _ refresher: TokenRefresher<String>,
    insteadOf refused: TokenRefresher<String>.Access? = nil
  ) -> Asked {
    let asked = Asked()
    asked.waiter = refresher.ask(insteadOf: refused, on: scheduler.time) { result in
      switch result {
      case .success(let access): asked.values.append(access.credential)
      case .failure(let failure): asked.failure = failure
      }
    }
    return asked
  }

  // MARK: Expiry

  @Test("hands a credential out until its leeway begins, and waits for a new one from there")
  func proactive() throws {
    let refresher = makeRefresher(try TokenRefreshPolicy(leeway: .seconds(10)), lifetime: .seconds(60))
    scheduler.advance(by: .nanoseconds(49_999_999_999))
    expectEqual(ask(refresher).values, ["A"])
    scheduler.advance(by: .nanoseconds(1))
    let waiting = ask(refresher)
    let next = ask(refresher)
    #expect(waiting.values.isEmpty)
    expectEqual(renewal.subscriptionCount, 1)
    renewal.send("B")
    expectEqual(waiting.values, ["B"])
    expectEqual(next.values, ["B"])
    expectEqual(ask(refresher).values, ["B"])
    expectEqual(renewal.subscriptionCount, 1)
    expectEqual(
      log.lines,
      [
        "credential 1: signed in",
        "credential 1: refresh begins (expiring)",
        "credential 2: refreshed; 2 waiting requests go on",
      ]
    )
  }

  @Test("goes on with what is not yet expired when an early refresh fails for the moment, and fails after")
  func earlyFailure() throws {
    let policy = try TokenRefreshPolicy(leeway: .seconds(10), cooldown: .seconds(4))
    let refresher = makeRefresher(policy, lifetime: .seconds(60))
    scheduler.advance(by: 50)
    let early = ask(refresher)
    renewal.send(completion: .failure(.transient))
    expectEqual(early.values, ["A"])
    // In the pause after the failure no other refresh begins.
    expectEqual(ask(refresher).values, ["A"])
    expectEqual(renewal.subscriptionCount, 1)
    scheduler.advance(by: 4)
    let second = ask(refresher)
    expectEqual(renewal.subscriptionCount, 2)
    scheduler.advance(by: 6)
    renewal.send(completion: .failure(.transient))
    expectEqual(second.failure?.reason, .failed)
    expectEqual(second.failure?.retryAfter, .seconds(8))
    expectEqual(ask(refresher).failure?.retryAfter, .seconds(8))
    expectEqual(renewal.subscriptionCount, 2)
  }

  @Test("hands the new credential to one who was refused with the old, and begins no other refresh")
  func refusedWithOld() throws {
    let refresher = makeRefresher()
    let old = try #require(current(refresher))
    let first = ask(refresher, insteadOf: old)
    renewal.send("B")
    expectEqual(first.values, ["B"])
    expectEqual(ask(refresher, insteadOf: old).values, ["B"])
    expectEqual(renewal.subscriptionCount, 1)
  }

  // MARK: Failures

  @Test("keeps the session after a failure for the moment, waits longer each time, and forgets that upon success")
  func transient() throws {
    let policy = try TokenRefreshPolicy(
      maxRefreshes: 100,
      cooldown: .seconds(1),
      maxCooldown: .seconds(3)
    )
    let refresher = makeRefresher(policy)
    let refused = try #require(current(refresher))
    for pause in [1, 2, 3, 3] {
      let waiting = ask(refresher, insteadOf: refused)
      renewal.send(completion: .failure(.transient))
      expectEqual(waiting.failure?.underlying as? TestFailure, .transient)
      expectEqual(waiting.failure?.retryAfter, Duration.seconds(pause))
      let count = renewal.subscriptionCount
      expectEqual(ask(refresher, insteadOf: refused).failure?.reason, .failed)
      expectEqual(renewal.subscriptionCount, count)
      expectEqual(refresher.credential, "A")
      scheduler.advance(by: .seconds(pause))
    }
    let waiting = ask(refresher, insteadOf: refused)
    renewal.send("B")
    expectEqual(waiting.values, ["B"])
    let again = ask(refresher, insteadOf: current(refresher))
    renewal.send(completion: .failure(.transient))
    expectEqual(again.failure?.retryAfter, .seconds(1))
  }

  @Test("waits for as long as the server asks for, and no shorter than without that", arguments: [1, 77])
  func hint(seconds: Int) throws {
    let refresher = makeRefresher(try TokenRefreshPolicy(cooldown: .seconds(4)))
    let waiting = ask(refresher, insteadOf: current(refresher))
    renewal.send(completion: .failure(.busy(.seconds(seconds))))
    expectEqual(waiting.failure?.retryAfter, .seconds(max(seconds, 4)))
  }

  @Test(
    "waits for no longer than its policy allows the server to ask for",
    arguments: [(nil, 1_000_000_000, 3_600), (20, 77, 20), (2, 77, 4), (0, 77, 4)] as [(Int?, Int, Int)]
  )
  func maxHint(most: Int?, hint: Int, pause: Int) throws {
    let maxHint = most.map { Duration.seconds($0) } ?? TokenRefreshPolicy.standard.maxHint
    let refresher = makeRefresher(try TokenRefreshPolicy(cooldown: .seconds(4), maxHint: maxHint))
    let waiting = ask(refresher, insteadOf: current(refresher))
    renewal.send(completion: .failure(.busy(.seconds(hint))))
    expectEqual(waiting.failure?.retryAfter, .seconds(pause))
  }

  @Test("takes a refresh that finishes without a credential for one that failed for the moment")
  func empty() throws {
    let refresher = makeRefresher()
    let waiting = ask(refresher, insteadOf: current(refresher))
    renewal.send(completion: .finished)
    expectEqual(waiting.failure?.reason, .failed)
    #expect(waiting.failure?.underlying is RefreshWithoutCredential)
    #expect("\(RefreshWithoutCredential())".contains("let its publisher send one"))
  }

  @Test("fails at once, with no call, after the server rejected the session, and says so once")
  func rejected() throws {
    let refresher = makeRefresher()
    let (first, second) = (ask(refresher, insteadOf: current(refresher)), ask(refresher, insteadOf: current(refresher)))
    renewal.send(completion: .failure(.permanent))
    expectEqual(first.failure?.reason, .rejected)
    expectEqual(second.failure?.reason, .rejected)
    for _ in 0..<3 { expectEqual(ask(refresher).failure?.underlying as? TestFailure, .permanent) }
    expectEqual(renewal.subscriptionCount, 1)
    expectEqual(log.lines.count { $0.contains("rejected") }, 1)
    refresher.signIn(with: "B")
    expectEqual(ask(refresher).values, ["B"])
  }

  @Test("refuses more refreshes than there may be, until the first of them is old enough")
  func excessive() throws {
    let refresher = makeRefresher(try TokenRefreshPolicy(maxRefreshes: 2, window: .seconds(30)))
    for index in 0..<2 {
      let waiting = ask(refresher, insteadOf: current(refresher))
      renewal.send("B\(index)")
      expectEqual(waiting.values, ["B\(index)"])
      scheduler.advance(by: 10)
    }
    let refused = ask(refresher, insteadOf: current(refresher))
    expectEqual(refused.failure?.reason, .tooManyRefreshes)
    expectEqual(refused.failure?.retryAfter, .seconds(10))
    expectEqual(log.lines.last, "credential 3: too many refreshes; next in 10.0 seconds")
    scheduler.advance(by: 10)
    _ = ask(refresher, insteadOf: current(refresher))
    expectEqual(renewal.subscriptionCount, 3)
  }

  // MARK: The session

  @Test("fails without anybody signed in")
  func signedOut() {
    let refresher = makeRefresher()
    refresher.signOut()
    refresher.signOut()
    #expect(refresher.credential == nil)
    expectEqual(ask(refresher).failure?.reason, .signedOut)
    expectEqual(log.lines, ["credential 1: signed in", "signed out; 0 waiting requests fail"])
  }

  @Test("does not bring a session back with a refresh that ends after the sign-out")
  func lateRefresh() {
    let refresher = makeRefresher()
    let waiting = ask(refresher, insteadOf: current(refresher))
    refresher.signOut()
    expectEqual(waiting.failure?.reason, .signedOut)
    renewal.send("B")
    #expect(refresher.credential == nil)
    expectEqual(log.lines.last, "a refresh ended after its session; its result is dropped")
  }

  @Test("does not mix a refresh of one session into the next")
  func otherSession() {
    let refresher = makeRefresher()
    let waiting = ask(refresher, insteadOf: current(refresher))
    refresher.signIn(with: "another user")
    expectEqual(waiting.failure?.reason, .signedOut)
    renewal.send("B")
    expectEqual(refresher.credential, "another user")
    expectEqual(ask(refresher).values, ["another user"])
  }

  @Test("counts the refreshes of a new session from none")
  func freshCount() throws {
    let refresher = makeRefresher(try TokenRefreshPolicy(maxRefreshes: 1, window: .seconds(30)))
    _ = ask(refresher, insteadOf: current(refresher))
    renewal.send("B")
    expectEqual(ask(refresher, insteadOf: current(refresher)).failure?.reason, .tooManyRefreshes)
    refresher.signIn(with: "another user")
    let waiting = ask(refresher, insteadOf: current(refresher))
    #expect(waiting.failure == nil)
    renewal.send("C")
    expectEqual(waiting.values, ["C"])
    expectEqual(renewal.subscriptionCount, 2)
  }

  @Test("lets observers sign out from inside, and tells the events in order")
  func reentrant() {
    let refresher = makeRefresher()
    refresher.onEvent { [weak refresher] event in
      if case .refreshBegins = event { refresher?.signOut() }
    }
    let waiting = ask(refresher, insteadOf: current(refresher))
    expectEqual(waiting.failure?.reason, .signedOut)
    renewal.send("B")
    #expect(refresher.credential == nil)
    expectEqual(
      log.lines,
      [
        "credential 1: signed in",
        "credential 1: refresh begins (refused)",
        "signed out; 1 waiting requests fail",
        "a refresh ended after its session; its result is dropped",
      ]
    )
  }

  // MARK: Functions

  @Test("runs a function with the credential, and once more with the next")
  func run() async throws {
    let refresher = asyncRefresher { .refreshed($0.credential + "'") }
    var sent: [String] = []
    let value = try await refresher.run(when: { $0 as? TestFailure == .permanent }) { credential in
      sent.append(credential)
      if credential == "A" { throw TestFailure.permanent }
      return credential
    }
    expectEqual(value, "A'")
    expectEqual(sent, ["A", "A'"])
  }

  @Test("passes a second refusal on, and every other error at once")
  func runTwice() async throws {
    let refresher = asyncRefresher { .refreshed($0.credential + "'") }
    var sent = 0
    await #expect(throws: TestFailure.permanent) {
      try await refresher.run(when: { $0 as? TestFailure == .permanent }) { _ in
        sent += 1
        throw TestFailure.permanent
      }
    }
    expectEqual(sent, 2)
    await #expect(throws: TestFailure.transient) {
      try await refresher.run(when: { $0 as? TestFailure == .permanent }) { _ in
        sent += 1
        throw TestFailure.transient
      }
    }
    expectEqual(sent, 3)
    expectEqual(refresher.credential, "A'")
  }

  @Test("runs the function where the caller runs")
  @MainActor
  func isolation() async throws {
    let refresher = asyncRefresher { .refreshed($0.credential + "'") }
    var places: [Bool] = []
    _ = try await refresher.run(when: { _ in true }) { credential in
      MainActor.assertIsolated()
      places.append(true)
      if credential == "A" { throw TestFailure.permanent }
      return credential
    }
    expectEqual(places.count, 2)
  }

  @Test("throws why there is no credential")
  func runWithout() async throws {
    let refresher = asyncRefresher { _ in .rejected(TestFailure.permanent) }
    await #expect(throws: TokenRefreshFailure.self) {
      try await refresher.run(when: { _ in true }) { _ in throw TestFailure.transient }
    }
    refresher.signOut()
    await #expect(throws: TokenRefreshFailure.self) { try await refresher.run(when: { _ in true }) { $0 } }
  }

  @Test("stops to wait when the task is cancelled, and lets the refresh end")
  func cancelledRun() async throws {
    let refresher = makeRefresher()
    let waits = AsyncStream<Void>.makeStream()
    refresher.onEvent { if case .refreshBegins = $0 { waits.continuation.yield() } }
    let task = Task {
      try await refresher.run(when: { _ in true }) { _ in throw TestFailure.permanent }
    }
    for await _ in waits.stream { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expectEqual(refresher.queued, 0)
    expectEqual(renewal.cancelCount, 0)
    renewal.send("B")
    expectEqual(refresher.credential, "B")
  }

  @Test("stops to wait when the time of a function is over, and lets the refresh end")
  func deadline() throws {
    try Simulation(seed: 1).run {
      let refresher = TokenRefresher<String>(obtaining: { () async throws(CancellationError) in
        do { try await TimeSource.current.sleep(for: .seconds(5)) } catch { throw CancellationError() }
        return "A"
      })
      let limit = TimeoutPolicy.total(.seconds(2)).cooperative()
      for wait in [
        { @Sendable () async throws in try await refresher.access().credential },
        { @Sendable () async throws in try await refresher.run(when: { _ in false }) { $0 } },
      ] {
        let start = TimeSource.current.now
        do {
          let credential = try await limit.run { try await wait() }
          try requireEqual(credential, "none yet")
        } catch let error as TimedOut {
          try requireEqual(error, TimedOut(.total, limit: .seconds(2)))
        }
        try requireEqual(TimeSource.current.now - start, .seconds(2))
        try requireEqual(refresher.queued, 0)
      }
      try await TimeSource.current.sleep(for: .seconds(2))
      try requireEqual(refresher.credential, "A")
    }
  }

  @Test("does not take a cancelled function for a refused one")
  func cancelIsNoRefusal() async throws {
    let refresher = makeRefresher()
    await #expect(throws: CancellationError.self) {
      try await refresher.run(when: { _ in true }) { _ in throw CancellationError() }
    }
    expectEqual(renewal.subscriptionCount, 0)
  }

  @Test("refreshes once for a hundred functions that are refused at the same time")
  func hundredFunctions() async throws {
    let refreshes = EventLog<String>()
    let refresher = asyncRefresher {
      refreshes.write($0.credential)
      return .refreshed("B")
    }
    let sent = EventLog<String>()
    let values = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<100 {
        group.addTask {
          try await refresher.run(when: { $0 as? TestFailure == .permanent }) { credential in
            sent.write(credential)
            if credential == "A" { throw TestFailure.permanent }
            return credential
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    expectEqual(values, Array(repeating: "B", count: 100))
    expectEqual(refreshes.events, ["A"])
    expectEqual(sent.events.count { $0 == "B" }, 100)
  }

  private func asyncRefresher(
    _ refresh: @escaping @Sendable (TokenRefresher<String>.Refresh) async -> RefreshOutcome<String>
  ) -> TokenRefresher<String> {
    let refresher = TokenRefresher<String>(refreshing: refresh)
    refresher.signIn(with: "A")
    return refresher
  }

  /// What a request would be sent with now.
  private func current(_ refresher: TokenRefresher<String>) -> TokenRefresher<String>.Access? {
    var access: TokenRefresher<String>.Access?
    _ = refresher.ask(on: scheduler.time) { access = try? $0.get() }
    return access
  }
}
