import Expectations
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@Suite("CredentialStore")
struct CredentialStoreTests {
  /// What several processes share: a file and its lock, and a server that accepts each credential once.
  private actor Machine {
    var stored: String?
    var redeemed: [String] = []
    var readError: TestFailure?
    var writeError: TestFailure?
    private var isLocked = false
    private var queue: [CheckedContinuation<Void, Never>] = []

    init(stored: String) { self.stored = stored }

    func fail(reading: TestFailure? = nil, writing: TestFailure? = nil) { (readError, writeError) = (reading, writing) }

    func read() throws -> String? {
      if let readError { throw readError }
      return stored
    }

    func write(_ credential: String) throws {
      if let writeError { throw writeError }
      stored = credential
    }

    func redeem(_ credential: String) -> RefreshOutcome<String> {
      if redeemed.contains(credential) { return .rejected(TestFailure.permanent) }
      redeemed.append(credential)
      return .refreshed("\(credential)'")
    }

    func lock() async {
      if isLocked { return await withCheckedContinuation { queue.append($0) } }
      isLocked = true
    }

    func unlock() {
      if queue.isEmpty { isLocked = false } else { queue.removeFirst().resume() }
    }
  }

  private let machine = Machine(stored: "A")
  private let log = EventLog<TokenRefreshEvent>()

  private func makeProcess(
    redeem: (@Sendable (TokenRefresher<String>.Refresh) async -> RefreshOutcome<String>)? = nil
  ) -> TokenRefresher<String> {
    let machine = machine
    let store = CredentialStore<String>(
      isSame: { $0 == $1 },
      read: { try await machine.read() },
      write: { try await machine.write($0) },
      exclusively: { body in
        await machine.lock()
        await body()
        await machine.unlock()
      }
    )
    let refresher = TokenRefresher<String>(store: store) { request in
      if let redeem { await redeem(request) } else { await machine.redeem(request.credential) }
    }
    refresher.onEvent(log.write)
    refresher.signIn(with: "A")
    return refresher
  }

  @Test("redeems a credential once, whichever of two processes comes first")
  func twoProcesses() async throws {
    let (first, second) = (makeProcess(), makeProcess())
    async let one = first.run(when: { _ in true }) { if $0 == "A" { throw TestFailure.permanent } else { $0 } }
    async let two = second.run(when: { _ in true }) { if $0 == "A" { throw TestFailure.permanent } else { $0 } }
    let values = try await [one, two]
    expectEqual(values, ["A'", "A'"])
    await expectEqual(machine.redeemed, ["A"])
    await expectEqual(machine.stored, "A'")
  }

  @Test("keeps the session, and redeems nothing, when what is stored cannot be read")
  func unreadable() async throws {
    let process = makeProcess()
    await machine.fail(reading: .transient)
    await #expect(throws: TokenRefreshFailure.self) {
      try await process.run(when: { _ in true }) { _ in throw TestFailure.permanent }
    }
    #expect(await machine.redeemed.isEmpty)
    expectEqual(process.credential, "A")
  }

  @Test("uses a new credential that cannot be stored, and says that it could not")
  func unwritable() async throws {
    let process = makeProcess()
    await machine.fail(writing: .transient)
    let value = try await process.run(when: { _ in true }) { if $0 == "A" { throw TestFailure.permanent } else { $0 } }
    expectEqual(value, "A'")
    #expect(log.lines.contains("credential 1: its successor could not be stored (transient)"))
  }

  @Test("redeems its own credential while what is stored is used up, however often its successors cannot be stored")
  func usedUp() async throws {
    let process = makeProcess()
    await machine.fail(writing: .transient)
    for renewed in ["A'", "A''", "A'''"] {
      if renewed == "A'''" { await machine.fail() }
      let value = try await process.run(when: { _ in true }) {
        if $0 == renewed { $0 } else { throw TestFailure.permanent }
      }
      expectEqual(value, renewed)
    }
    await expectEqual(machine.redeemed, ["A", "A'", "A''"])
    await expectEqual(machine.stored, "A'''")
  }

  @Test("takes over what another process has stored after a credential could not be stored")
  func storedByAnother() async throws {
    let process = makeProcess()
    await machine.fail(writing: .transient)
    let own = try await process.run(when: { _ in true }) { if $0 == "A" { throw TestFailure.permanent } else { $0 } }
    await machine.fail()
    try await machine.write("B")
    let other = try await process.run(when: { _ in true }) { if $0 == own { throw TestFailure.permanent } else { $0 } }
    expectEqual(other, "B")
    await expectEqual(machine.redeemed, ["A"])
  }

  @Test("stores nothing that comes after a sign-out")
  func signOut() async throws {
    let refreshers = EventLog<TokenRefresher<String>>()
    let machine = machine
    let process = makeProcess { request in
      refreshers.events.first?.signOut()
      return await machine.redeem(request.credential)
    }
    refreshers.write(process)
    await #expect(throws: TokenRefreshFailure.self) {
      try await process.run(when: { _ in true }) { _ in throw TestFailure.permanent }
    }
    #expect(process.credential == nil)
    // Once the lock is free the refresh is over.
    await machine.lock()
    await expectEqual(machine.redeemed, ["A"])
    await expectEqual(machine.stored, "A")
  }

  @Test("keeps the session when the lock cannot be had")
  func noLock() async throws {
    let store = CredentialStore<String>(
      isSame: { $0 == $1 },
      read: { nil },
      write: { _ in },
      exclusively: { _ in throw TestFailure.transient }
    )
    let process = TokenRefresher<String>(store: store) { _ in .refreshed("never") }
    process.signIn(with: "A")
    await #expect(throws: TokenRefreshFailure.self) {
      try await process.run(when: { _ in true }) { _ in throw TestFailure.permanent }
    }
    expectEqual(process.credential, "A")
  }
}
