import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting

/// What one case of the contract has to itself: a server, virtual time and a log.
final class ContractRun: Sendable {
  /// Something is not as it was promised.
  struct Problem: Error {
    let text: String
  }

  let server: MisbehavingServer
  let scheduler = TestScheduler()
  let log = TransportLog()
  private let make: TransportContract.Maker

  init(_ make: @escaping TransportContract.Maker) throws {
    self.make = make
    server = try MisbehavingServer()
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
        defer { server.stop() }
        var seen = 0
        var looks = 0
        while looks < 10 {
          // Not in one piece: on a busy machine the case comes to run between two looks, as this task does.
          try await TimeSource.system.sleep(for: patience / 10)
          looks = seen == happened ? looks + 1 : 0
          seen = happened
        }
        throw Problem(text: "nothing happened any more for \(patience), so it was given up")
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// How much has happened: requests that came, and events that were told.
  private var happened: Int { server.requests.count + log.events.count }

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
