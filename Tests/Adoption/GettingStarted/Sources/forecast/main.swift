// The program of the article "A command-line tool".
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

func run() async -> Int32 {
  let arguments = CommandLine.arguments.dropFirst()
  guard let address = arguments.first, let baseURL = URL(string: address) else {
    print("usage: forecast https://api.example [city]")
    return 64  // EX_USAGE
  }
  let client = WebAPIClient(
    baseURL: baseURL,
    transport: URLSessionTransport(),
    middleware: [Retrying(.http)],
    deliveringOn: nil
  )
  do {
    let place = try await TimeoutPolicy.total(.seconds(30)).run {
      try await client.value(of: Forecast(city: arguments.dropFirst().first ?? "Rome"))
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
