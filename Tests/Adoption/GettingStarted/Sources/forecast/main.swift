// The program of the article "A command-line tool".
import Combine
import Foundation
import Rebound
import ReboundHTTP

struct Place: Decodable, Sendable {
  let name: String
  let temperature: Double
}

struct Forecast: Request {
  let city: String
  var path: RequestPath { "forecast" }
  var query: Parameters { ["q": city] }
  typealias Response = Place
}

/// Shows the weather every ten seconds; the last good one, with its age, while the service is away.
func watch(_ city: String, with client: WebAPIClient) async throws {
  let forecasts = try LastGood<String, Place>(capacity: 10)
  let covered = FallbackPolicy<NetworkFailure>().when { $0.kind != .unauthorised }
  let watch = client.publisher(for: Forecast(city: city))
    .remember(in: forecasts, for: city)
    .fallback(to: forecasts, for: city, covered)
    .repeat(every: .seconds(10))
    .map { place in
      let age = place.age.map { ", \($0.components.seconds) s ago" } ?? ""
      return "\(place.value.temperature) °C in \(place.value.name)\(age)"
    }
  for try await line in watch.values { print(line) }
}

func run() async -> Int32 {
  let arguments = CommandLine.arguments.dropFirst()
  guard let address = arguments.first, let baseURL = URL(string: address) else {
    print("usage: forecast https://api.example [city [watch]]")
    return 64  // EX_USAGE
  }
  #if Curl && os(Linux)  // where a server can stop a process that uses URLSession
    let transport = CurlTransport()
  #else
    let transport = URLSessionTransport()
  #endif
  let client = WebAPIClient(
    baseURL: baseURL,
    transport: transport,
    middleware: [Retrying(.http)],
    deliveringOn: nil
  )
  let city = arguments.dropFirst().first ?? "Rome"
  do {
    if arguments.dropFirst(2).first == "watch" {
      try await watch(city, with: client)
      return 0  // after Ctrl-C
    }
    let place = try await TimeoutPolicy.total(.seconds(30)).run {
      try await client.value(of: Forecast(city: city))
    }
    print("\(place.temperature) °C in \(place.name)")
    return 0
  } catch let failure as NetworkFailure {
    print(failure.localizedDescription)
    return failure.isTransient ? 75 : 1  // EX_TEMPFAIL: try again later
  } catch {
    print(error.localizedDescription)
    return 75  // the limit of 30 s
  }
}

/// Cancels work on Ctrl-C, for as long as the source is kept.
func cancel(_ work: Task<Int32, Never>, on number: Int32 = SIGINT) -> any DispatchSourceSignal {
  signal(number, SIG_IGN)
  let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
  source.setEventHandler { work.cancel() }
  source.resume()
  return source
}

let work = Task { await run() }
let interrupt = cancel(work)
exit(await work.value)
