import Foundation
import ReboundHTTP
import ReboundHTTPTesting
import Testing

/// What ``Transport`` promises, of each transport.
@Suite("Transports", .timeLimit(.minutes(10)))
struct TransportContractTests {
  /// A promise, and whose it is.
  struct Promise: CustomTestStringConvertible {
    let kind: TransportKind
    let promise: TransportContract.Case

    var testDescription: String { "\(kind.rawValue) \(promise)" }
  }

  static let promises: [Promise] = TransportKind.allCases.flatMap { kind in
    kind.contract.cases.filter { $0.faultCase == nil }.map { Promise(kind: kind, promise: $0) }
  }

  @Test("keep their promises", arguments: promises)
  func promise(promise: Promise) async throws {
    try await promise.promise.run()
  }

  @Test("that lack a feature are not asked for it, and have all other cases")
  func features() {
    for feature in TransportContract.Feature.allCases {
      let contract = TransportContract(lacking: [feature]) { URLSessionTransport(time: $0, reachability: $1) }
      #expect(!contract.cases.contains { $0.feature == feature })
      let all = TransportContract { URLSessionTransport(time: $0, reachability: $1) }.cases
      #expect(contract.cases.count == all.count { $0.feature != feature })
      #expect(all.contains { $0.feature == feature })
    }
  }

  /// Does nothing of what it should.
  private struct Silent: Transport {
    let isSilent: Bool

    private final class Exchange: TransportExchange {
      func cancel() {}
      func pause() {}
      func resume() {}
    }

    func start(
      _ request: TransportRequest,
      telling receiver: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
      if !isSilent { receiver(.finished) }
      return Exchange()
    }
  }

  @Test("that break a promise are told which, and what happened in its place")
  func violation() async throws {
    let contract = TransportContract { _, _ in Silent(isSilent: false) }
    let isOne: (TransportContract.Case) -> Bool = { $0.promise == "sends a file with its length" }
    let error = await #expect(throws: TransportContract.Violations.self) { try await contract.verify(where: isOne) }
    #expect(
      error?.description == "'sends a file with its length': 0 requests came, not one; told: 'e'"
    )
  }

  @Test("that never tell an end are given up")
  func hanging() async throws {
    let contract = TransportContract(patience: .zero) { _, _ in Silent(isSilent: true) }
    for promise in contract.cases.prefix(3) {
      await #expect(throws: TransportContract.Violation.self) { try await promise.run() }
    }
  }

  @Test("that are cancelled end at once, also where they wait for the server")
  func cancelled() async throws {
    let contract = TransportContract(patience: .seconds(3600)) { _, _ in Silent(isSilent: true) }
    let waiting = contract.cases.filter {
      guard let sending = $0.sending else { return false }
      return $0.faultCase?.verdict(for: sending) == .failure(.timeout(.idle))
    }
    #expect(waiting.count > 3)
    for promise in waiting.prefix(3) {
      let run = Task { try await promise.run() }
      run.cancel()
      await #expect(throws: (any Error).self) { try await run.value }
    }
  }
}
