import BenchmarkClients
import Combine
import Foundation
import ReboundHTTP

/// Whole calls of a client whose transport answers at once.
extension Workloads {
  /// A publisher is limited beside one without middleware, and an asynchronous function beside the publisher: it is compiled
  /// once for all types of responses, and looks up its own types at run time.
  static func clients(_ total: Total) throws -> [Benchmark] {
    // No address that anything is sent to.
    guard let service = URL(string: "http://benchmark.invalid") else { return [] }
    func client(_ middleware: any HTTPMiddleware...) -> WebAPIClient {
      WebAPIClient(baseURL: service, transport: InstantTransport(), middleware: middleware, deliveringOn: nil)
    }
    let stack = try WebAPIClient.withWholeStack(baseURL: service, transport: InstantTransport())
    return [
      call("bare", client(), limit: 3_500),
      call("retrying", client(Retrying(.http)), most: 1.8),
      call("whole stack", stack, most: 12, tolerance: toleranceOfTimers),
      value("bare", client(), total, most: 2.5),
      value("retrying", client(Retrying(.http)), total, most: 2.5),
      value("whole stack", stack, total, most: 1.6, tolerance: toleranceOfTimers),
    ]
  }

  /// A call as a publisher.
  private static func call(
    _ name: String,
    _ client: WebAPIClient,
    limit: Double? = nil,
    most: Double? = nil,
    tolerance: Double = 0.01
  ) -> Benchmark {
    Benchmark(
      "HTTP client, publisher: \(name)",
      count: 5_000,
      limit: limit,
      ratioLimit: most.map { ("HTTP client, publisher: bare", $0) },
      hasBacklog: true,
      tolerance: tolerance
    ) { count in
      for _ in 0..<count {
        client.publisher(for: Reading()).sink(receiveCompletion: refuseFailure, receiveValue: { _ in }).cancel()
      }
    }
  }

  /// The same call by an asynchronous function.
  private static func value(
    _ name: String,
    _ client: WebAPIClient,
    _ total: Total,
    most: Double,
    tolerance: Double = 0.01
  ) -> Benchmark {
    .executions(
      "HTTP client, async: \(name)",
      count: 5_000,
      ratioLimit: ("HTTP client, publisher: \(name)", most),
      tolerance: tolerance
    ) { count in
      for _ in 0..<count { total.add(try await client.value(of: Reading()).count) }
    }
  }
}

/// Parses nothing and hands on the bytes.
private struct Reading: Request {
  typealias Response = Data

  var path: RequestPath { "reading" }
}
