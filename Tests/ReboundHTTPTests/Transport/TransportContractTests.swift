import Expectations
import Foundation
import ReboundHTTP
import ReboundHTTPTesting
import StreamSupport
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

  /// Takes no connections.
  private struct NoTerminator: TLSTerminator {
    struct Failure: Error {}

    func listen(before port: UInt16, offering protocols: [String]) async throws -> any TLSListener { throw Failure() }
  }

  private static func contract(
    lacking: Set<TransportContract.Feature> = [],
    tls terminator: (any TLSTerminator)? = NoTerminator()
  ) -> TransportContract {
    TransportContract(lacking: lacking, tls: terminator) { _, _ in Silent(isSilent: false) }
  }

  @Test("that lack a feature are not asked for it, and have all other cases; without TLS, there is no HTTP/2")
  func features() {
    let all = Self.contract().cases
    for feature in TransportContract.Feature.allCases {
      let missing: Set<TransportContract.Feature> = feature == .tls ? [.tls, .http2] : [feature]
      let contract = Self.contract(lacking: [feature])
      #expect(!contract.cases.contains { $0.feature.map { missing.contains($0) } ?? false })
      expectEqual(contract.cases.count, all.count { $0.feature.map { !missing.contains($0) } ?? true })
      #expect(all.contains { $0.feature == feature })
    }
  }

  @Test("are told what nobody has asked for, and why")
  func coverage() async throws {
    let all = Self.contract().cases
    let bare = Self.contract(lacking: [.http2, .backpressure], tls: nil)
    let coverage = try await bare.verify { _ in false }
    expectEqual(coverage.proven, [])
    try #require(
      coverage.gaps.map(\.reason) == [
        "it lacks http2", "it lacks backpressure", "there is no TLSTerminator", "the caller has left them out",
      ]
    )
    expectEqual(coverage.gaps[0].promises, all.filter { $0.feature == .http2 }.map(\.promise))
    expectEqual(coverage.gaps[2].promises, all.filter { $0.isBehindTLS && $0.feature != .http2 }.map(\.promise))
    expectEqual(coverage.gaps[3].promises, bare.cases.map(\.promise))
    let lines = coverage.description.split(separator: "\n").map { line in line.filter { !$0.isNumber } }
    expectEqual(
      lines,
      [
        " promises are kept", " not asked for, since it lacks http", " not asked for, since it lacks backpressure",
        " not asked for, since there is no TLSTerminator", " not asked for, since the caller has left them out",
      ]
    )
  }

  @Test("behind a terminator that cannot listen are proven nothing: what it throws goes through")
  func brokenTerminator() async throws {
    let contract = Self.contract()
    for promise in contract.cases where promise.isBehindTLS {
      await #expect(throws: NoTerminator.Failure.self, "\(promise)") { try await promise.run() }
    }
    await #expect(throws: NoTerminator.Failure.self) { _ = try await contract.verify { $0.isBehindTLS } }
  }

  #if Curl && os(Linux)
    @Test("keep their promises behind TLS and over HTTP/2", arguments: TransportKind.allCases)
    func behindTLS(kind: TransportKind) async {
      // URLSession trusts nobody else's certificates, unless the whole process does.
      await #expect(processExitsWith: .success) { [kind] in
        try TrustedAuthority.trustTests()
        let contract = TransportContract(lacking: kind.lacking, tls: OpenSSLTerminator(), try kind.trustingMaker)
        do {
          let coverage = try await contract.verify { $0.isBehindTLS && !kind.stopsProcess(at: $0) }
          #expect(coverage.proven.count > 80, "\(coverage)")
        } catch {
          // Thrown, it would end the process without a word.
          Issue.record(error)
        }
      }
    }
  #endif

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
    let error = await #expect(throws: TransportContract.Violations.self) { _ = try await contract.verify(where: isOne) }
    expectEqual(error?.description, "'sends a file with its length': 0 requests came, not one; told: 'e'")
  }

  @Test("that never tell an end are given up")
  func hanging() async throws {
    let contract = TransportContract(patience: .zero) { _, _ in Silent(isSilent: true) }
    for promise in contract.cases.prefix(3) {
      await #expect(throws: TransportContract.Violation.self) { try await promise.run() }
    }
  }

  /// Sends a request again whenever it fails, until it is cancelled.
  private struct Stubborn: Transport {
    let base: any Transport

    private final class Exchange: TransportExchange {
      private let current = Locked<(any TransportExchange)?>(nil)
      private let isCancelled = Locked(false)

      func send(_ request: TransportRequest, over base: any Transport, telling receiver: @escaping Receiver) {
        guard !isCancelled.withLock({ $0 }) else { return }
        let exchange = base.start(request) { [self] event in
          if case .failed = event { send(request, over: base, telling: receiver) } else { receiver(event) }
        }
        current.withLock { $0 = exchange }
      }

      func cancel() {
        isCancelled.withLock { $0 = true }
        current.withLock { $0 }?.cancel()
      }

      func pause() {}
      func resume() {}
    }

    typealias Receiver = @Sendable (TransportEvent) -> Void

    func start(_ request: TransportRequest, telling receiver: @escaping Receiver) -> any TransportExchange {
      let exchange = Exchange()
      exchange.send(request, over: base, telling: receiver)
      return exchange
    }
  }

  @Test("that send a request again without an end are given up")
  func endless() async throws {
    let kind = try #require(TransportKind.allCases.last)
    let contract = TransportContract(patience: .seconds(1)) { Stubborn(base: kind.make($0, reachability: $1)) }
    let promise = try #require(contract.cases.first { $0.faultCase?.fault == .emptyReply })
    let violation = await #expect(throws: TransportContract.Violation.self) { try await promise.run() }
    expectEqual(
      violation?.problem.hasPrefix("requests came without an end"),
      true,
      "\(violation.map { "\($0)" } ?? "")"
    )
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
