import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import StreamSupport

/// What one case of the contract has to itself: a server, virtual time and a log.
final class ContractRun: Sendable {
  /// Something is not as it was promised.
  struct Problem: Error {
    let text: String
  }

  let server: MisbehavingServer
  let scheduler = TestScheduler()
  let log = TransportLog()
  let terminator: (any TLSTerminator)?
  private let make: TransportContract.Maker
  /// Those of HTTP/2; `nil` once the case is over.
  private let frameServers = Locked<[FrameServer]?>([])
  private let kept = Locked<[any AnyObject & Sendable]>([])

  init(_ make: @escaping TransportContract.Maker, _ terminator: (any TLSTerminator)? = nil) throws {
    self.make = make
    self.terminator = terminator
    server = try MisbehavingServer()
  }

  /// A server for HTTP/2 in the clear, which is stopped with the case.
  func frames(_ answers: [[FrameServer.Frame]]) throws -> FrameServer {
    let server = try FrameServer(answers)
    let isWanted = frameServers.withLock { servers in
      servers?.append(server)
      return servers != nil
    }
    if !isWanted { server.stop() }
    return server
  }

  /// Keeps what stands between the transport and a server as long as the case: by itself it would go after its last use.
  func keep(_ object: any AnyObject & Sendable) {
    kept.withLock { $0.append(object) }
  }

  private func stopServers() {
    server.stop()
    let servers = frameServers.withLock { servers in
      defer { servers = nil }
      return servers ?? []
    }
    for server in servers { server.stop() }
  }

  /// A transport in real time, or in another.
  func transport(_ time: TimeSource = .system, _ reachability: any Reachability = ManualReachability()) -> any Transport
  {
    make(time, reachability)
  }

  /// Plays a case, and ends it when it hangs.
  func play(within patience: Duration, _ body: @escaping @Sendable (ContractRun) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await body(self) }
      group.addTask { [self] in
        // Lets go of whoever waits for the server, also when the case was cancelled; the cancel below, of whoever waits for the
        // transport.
        defer { stopServers() }
        var seen = 0
        var looks = 0
        while looks < 10 {
          // Not in one piece: on a busy machine the case comes to run between two looks, as this task does.
          try await TimeSource.system.sleep(for: patience / 10)
          let requestCount = requestCount
          guard requestCount < ContractRun.mostRequests else {
            throw Problem(text: "requests came without an end (\(requestCount)), so it was given up")
          }
          let happened = requestCount + log.events.count
          looks = seen == happened ? looks + 1 : 0
          seen = happened
        }
        throw Problem(text: "nothing happened any more for \(patience), so it was given up")
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Far more than any case has.
  private static let mostRequests = 1_000

  /// How many requests came, whichever server they came to.
  private var requestCount: Int {
    let frameServers = frameServers.withLock { $0 ?? [] }
    return frameServers.reduce(server.requests.count) { $0 + $1.requestCount }
  }

  // MARK: Sending

  /// Sends a request, and waits for its end.
  func send(_ request: TransportRequest, over transport: any Transport) async -> TransportLog {
    let log = TransportLog()
    let exchange = transport.start(request, telling: log.add)
    await log.end()
    exchange.cancel()
    return log
  }

  /// Sends a request, notes what is told in the run's own log, and waits for the end.
  func send(_ request: TransportRequest, in time: TimeSource = .system) async {
    let exchange = transport(time).start(request, telling: log.add)
    await log.end()
    exchange.cancel()
  }

  // MARK: Judging

  func expect<Value: Equatable>(_ what: String, _ actual: Value, _ expected: Value) throws(Problem) {
    guard actual == expected else { throw Problem(text: "\(what): \(actual), not \(expected)") }
  }

  func expect(_ isSo: Bool, _ otherwise: @autoclosure () -> String) throws(Problem) {
    guard isSo else { throw Problem(text: otherwise()) }
  }

  /// The one request that came.
  func received() throws(Problem) -> ReceivedRequest {
    let requests = server.requests
    guard let request = requests.first, requests.count == 1 else {
      throw Problem(text: "\(requests.count) requests came, not one\(words(of: log.failure))")
    }
    return request
  }

  /// How something went wrong, to be put behind what should have been.
  func words(of failure: TransportFailure?) -> String { failure.map { ": \($0)" } ?? "" }
}
