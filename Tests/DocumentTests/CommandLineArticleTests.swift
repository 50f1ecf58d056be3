import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import Testing

/// The code of the article about a command-line tool, as it stands there.
@Suite("The code of the article about a command-line tool")
struct CommandLineArticleTests {
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

  @Test(
    "a tool says what it has learnt, and exits with whether to try again later",
    arguments: [
      (.ok(#"{"name":"Rome","temperature":12}"#), 0, "12.0 °C in Rome"), (.status(404), 1, "It was not found."),
    ] as [(ScriptedTransport.Step, Int32, String)]
  )
  func tool(step: ScriptedTransport.Step, status: Int32, text: String) async {
    let transport = ScriptedTransport([step])
    nonisolated(unsafe) var output: [String] = []  // only used by this task

    let client = WebAPIClient(
      baseURL: URL(string: "https://api.example"),
      transport: transport,  // URLSessionTransport() in the program, or CurlTransport() with the trait Curl
      middleware: [Retrying(.http)],
      deliveringOn: nil
    )

    func run() async -> Int32 {
      do {
        let place = try await TimeoutPolicy.total(.seconds(30)).run {
          try await client.value(of: Forecast(city: "Rome"))
        }
        output.append("\(place.temperature) °C in \(place.name)")
        return 0
      } catch let failure as NetworkFailure {
        output.append(failure.localizedDescription)
        return failure.isTransient ? 75 : 1  // EX_TEMPFAIL: try again later
      } catch {
        output.append(error.localizedDescription)
        return 75  // the limit of 30 s
      }
    }

    // A time that stands still: no limit is reached, however busy the machine is.
    #expect(await TimeSource.$current.withValue(TestScheduler().time) { await run() } == status)
    #expect(output == [text])
  }
}
