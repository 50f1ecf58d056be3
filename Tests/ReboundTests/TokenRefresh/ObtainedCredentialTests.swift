import Combine
import Expectations
import ReboundTesting
import Testing

@testable import Rebound

@Suite("A refresher that obtains its credentials itself")
struct ObtainedCredentialTests {
  private let scheduler = TestScheduler()
  private let log = EventLog<TokenRefreshEvent>()
  private let obtained = Log<Int>()

  /// - Parameter outcome: What the server says, by the number of the call, from 1.
  private func makeRefresher(
    _ policy: TokenRefreshPolicy = .standard,
    lifetime: Duration? = nil,
    _ outcome: @escaping @Sendable (Int) -> Result<String, TestFailure> = { .success("token \($0)") }
  ) -> TokenRefresher<String> {
    let refresher = TokenRefresher<String>(
      policy: policy,
      lifetime: { _ in lifetime },
      rejectedWhen: { $0 == .permanent },
      obtaining: { [obtained] () async throws(TestFailure) in try outcome(obtained.number(0)).get() }
    )
    return refresher.onEvent(log.write)
  }

  private func send(
    with refresher: TokenRefresher<String>,
    _ answer: @escaping @Sendable (String) throws -> String = { $0 }
  ) async throws -> String {
    try await refresher.run(when: { $0 as? TestFailure == .numbered(401) }, time: scheduler.time) { try answer($0) }
  }

  @Test("has the first one obtained once, for all who ask")
  func first() async throws {
    let refresher = makeRefresher()
    #expect(refresher.credential == nil)
    let sent = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<50 { group.addTask { try await send(with: refresher) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    expectEqual(sent, Array(repeating: "token 1", count: 50))
    expectEqual(obtained.count, 1)
    expectEqual(log.lines.first, "credential 0: refresh begins (missing)")
  }

  @Test("can have the first one obtained before anybody asks, and says when that has ended")
  func prepared() async {
    let refresher = makeRefresher()
    refresher.prepare(on: scheduler.time)
    await refresher.waitForRefresh()
    expectEqual(refresher.credential, "token 1")
    // Now nothing is under way.
    await refresher.waitForRefresh()
    expectEqual(obtained.count, 1)
  }

  @Test("listens to itself no more once a wait for the end of a refresh has ended, or was cancelled")
  func leavesNoObserver() async {
    let gate = AsyncStream<Void>.makeStream()
    let refresher = TokenRefresher<String>(obtaining: {
      for await _ in gate.stream { break }
      return "token"
    })
    refresher.prepare(on: scheduler.time)
    let impatient = Task { await refresher.waitForRefresh() }
    impatient.cancel()
    await impatient.value
    #expect(refresher.credential == nil)
    let patient = Task { await refresher.waitForRefresh() }
    gate.continuation.yield()
    await patient.value
    expectEqual(refresher.credential, "token")
    #expect(!refresher.shared.adjust { _, isListened in isListened })
  }

  @Test("has another one obtained when it expires, when it is refused, and after a sign-out")
  func next() async throws {
    let refresher = makeRefresher(lifetime: .seconds(100))
    try await expectEqual(send(with: refresher), "token 1")
    scheduler.advance(by: 100)
    try await expectEqual(send(with: refresher), "token 2")
    let third = try await send(with: refresher) { token in
      if token == "token 2" { throw TestFailure.numbered(401) }
      return token
    }
    expectEqual(third, "token 3")
    refresher.signOut()
    #expect(refresher.credential == nil)
    try await expectEqual(send(with: refresher), "token 4")
  }

  @Test("fails as the server does when that refuses every credential, each time the same")
  func refused() async throws {
    let refresher = makeRefresher(try TokenRefreshPolicy(maxRefreshes: 3, window: .seconds(30)))
    let sent = Log<String>()
    for _ in 0..<6 {
      await #expect(throws: TestFailure.numbered(401)) {
        _ = try await send(with: refresher) { token in
          sent.write(token)
          throw TestFailure.numbered(401)
        }
      }
    }
    expectEqual(obtained.count, 3)
    // Twice while another may be obtained, once from then on.
    expectEqual(sent.count, 8)
    scheduler.advance(by: 30)
    let value = try await send(with: refresher) { token in
      if token != "token 4" { throw TestFailure.numbered(401) }
      return token
    }
    expectEqual(value, "token 4")
  }

  @Test("says the same to the subscribers of a request")
  func refusedPublisher() async throws {
    let refresher = makeRefresher(try TokenRefreshPolicy(maxRefreshes: 1, window: .seconds(30)))
    try await expectEqual(send(with: refresher), "token 1")
    let recorder = Recorder<Int, TestFailure>()
    refresher.authenticated(
      when: { $0 == .numbered(401) },
      failingWith: { _ in .transient },
      time: scheduler.time
    ) { _ in Fail<Int, TestFailure>(error: .numbered(401)) }
    .subscribe(recorder)
    expectEqual(recorder.failure, .numbered(401))
  }

  @Test("keeps those waiting for a pause that cannot have one for the moment, and then tries again")
  func transient() async throws {
    let refresher = makeRefresher { $0 == 1 ? .failure(.transient) : .success("token \($0)") }
    let failure = await #expect(throws: TokenRefreshFailure.self) { try await send(with: refresher) }
    expectEqual(failure?.reason, .failed)
    expectEqual(failure?.retryAfter, .seconds(1))
    let second = await #expect(throws: TokenRefreshFailure.self) { try await send(with: refresher) }
    expectEqual(second?.reason, .failed)
    expectEqual(obtained.count, 1)
    scheduler.advance(by: 1)
    try await expectEqual(send(with: refresher), "token 2")
  }

  @Test("asks no more once the key is refused, needs no sign-in for that, and begins anew after a sign-out")
  func denied() async throws {
    let refresher = makeRefresher { $0 == 1 ? .failure(.permanent) : .success("token \($0)") }
    for _ in 0..<3 {
      let failure = await #expect(throws: TokenRefreshFailure.self) { try await send(with: refresher) }
      expectEqual(failure?.reason, .denied)
      expectEqual(failure?.needsSignIn, false)
      expectEqual(failure?.description, "The service grants no access; check the key. Cause: permanent.")
    }
    expectEqual(obtained.count, 1)
    refresher.signOut()
    try await expectEqual(send(with: refresher), "token 2")
  }
}
