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

func run(_ arguments: [String]) async -> Int32 {
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

exit(await run(Array(CommandLine.arguments.dropFirst())))
