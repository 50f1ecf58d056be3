import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport

/// A client over a script, in virtual time.
///
/// The device's clock is an hour slow, so that whatever depends on it shows.
struct ClientUnderTest {
  /// What the servers of these tests say the time is when a test begins.
  static let serverStart = HTTPDate(secondsSinceEpoch: 1_800_000_000)

  let scheduler = TestScheduler()
  let transport: ScriptedTransport
  let log = EventLog()
  var client: WebAPIClient

  init(
    _ script: [ScriptedTransport.Step],
    repeatingLast: Bool = false,
    _ middleware: [any HTTPMiddleware] = []
  ) {
    let scheduler = scheduler
    transport = ScriptedTransport(script, repeatingLast: repeatingLast, time: scheduler.time)
    let time = scheduler.time.withWallClock {
      .seconds(Self.serverStart.secondsSinceEpoch - 3_600) + scheduler.elapsed
    }
    client = WebAPIClient(
      baseURL: .service,
      transport: transport,
      middleware: middleware,
      deliveringOn: nil,
      time: time,
      random: .seeded(1)
    )
    .onEvent(log.write)
  }

  /// Sends a request, and keeps what comes of it.
  func send<R: Request>(_ request: R) -> Recorder<R.Response, NetworkFailure> {
    let recorder = Recorder<R.Response, NetworkFailure>(on: scheduler)
    client.publisher(for: request).subscribe(recorder)
    return recorder
  }

  /// Sends a request, and lets time run until nothing waits.
  func run<R: Request>(_ request: R) throws -> Recorder<R.Response, NetworkFailure> {
    let recorder = send(request)
    try scheduler.run()
    return recorder
  }

  /// Sends a request with what is known about its response.
  func runDetailed<R: Request>(_ request: R) throws -> Recorder<ParsedResponse<R.Response>, NetworkFailure> {
    let recorder = Recorder<ParsedResponse<R.Response>, NetworkFailure>(on: scheduler)
    client.responses(for: request).subscribe(recorder)
    try scheduler.run()
    return recorder
  }

  /// A second of the server's clock, as HTTP writes it.
  static func serverDate(_ offset: Int64 = 0) -> String {
    let seconds = serverStart.secondsSinceEpoch + offset
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
  }
}

/// Keeps what a client tells.
final class EventLog: Sendable {
  private let log = ValueLog<HTTPEvent>()

  func write(_ event: HTTPEvent) { log.append(event) }

  var events: [HTTPEvent] { log.values }
  var lines: [String] { events.map { "\($0)" } }

  var cacheDecisions: [HTTPEvent.CacheDecision] {
    events.compactMap { if case .cache(let decision) = $0.kind { decision } else { nil } }
  }

  var retries: [RetryEvent] {
    events.compactMap { if case .retry(let event) = $0.kind { event } else { nil } }
  }
}

extension NetworkFailure.Kind {
  static func server(_ status: Int) -> NetworkFailure.Kind { .serverError(status) }
}

let rome = #"{"name":"Rome","temperature":12}"#
