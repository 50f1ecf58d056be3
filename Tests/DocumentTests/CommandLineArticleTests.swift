import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
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
      (.ok(#"{"name":"Rome","temperature":12}"#), 0, "12.0 °C in Rome"),
      (.status(404), 1, "It was not found. Check what you are looking for."),
      (.status(401), 77, "The key is not accepted. Set FORECAST_KEY to the one from your account."),
    ] as [(ScriptedTransport.Step, Int32, String)]
  )
  func tool(step: ScriptedTransport.Step, status: Int32, text: String) async throws {
    let transport = ScriptedTransport([step])
    let key = "secret"
    nonisolated(unsafe) var output: [String] = []  // only used by this task

    let client = WebAPIClient(
      baseURL: URL(string: "https://api.example"),
      transport: transport,  // CurlTransport() on Linux, URLSessionTransport() elsewhere
      middleware: [
        APIKey(.header("X-API-Key"), key, for: "api.example"), Retrying(.http),
        Protecting(try .consecutive(5, openFor: .seconds(30))),
      ],
      deliveringOn: nil
    )

    func run() async -> Int32 {
      do {
        let place = try await TimeoutPolicy.total(.seconds(30)).run {
          try await client.value(of: Forecast(city: "Rome"))
        }
        output.append("\(place.temperature) °C in \(place.name)")
        return 0
      } catch let failure as NetworkFailure where failure.kind == .unauthorised {
        output.append("The key is not accepted. Set FORECAST_KEY to the one from your account.")
        return 77  // EX_NOPERM
      } catch let failure as NetworkFailure {
        output.append([failure.localizedDescription, failure.recoverySuggestion ?? ""].joined(separator: " "))
        return failure.isTransient ? 75 : 1  // EX_TEMPFAIL: try again later
      } catch {
        output.append(error.localizedDescription)
        return 75  // the limit of 30 s
      }
    }

    // A time that stands still: no limit is reached, however busy the machine is.
    #expect(await TimeSource.$current.withValue(TestScheduler().time) { await run() } == status)
    #expect(output == [text])
    #expect(transport.calls.map { $0.request.headers["X-API-Key"] } == ["secret"])
  }

  @Test("a body is read as it comes, and half of one has no size")
  func size() async throws {
    let head = ResponseHead(status: 200, url: URL(filePath: "/"))
    let pieces = [Data(count: 3), Data(count: 4)]
    let transport = ScriptedTransport([
      .chunks(200, [:], pieces), .failure(TransportFailure(.truncated), after: head, pieces),
    ])
    // The main queue, which this loop does not wait for.
    let client = WebAPIClient(baseURL: URL(string: "https://api.example"), transport: transport)

    func size(of request: some Request) async throws(NetworkFailure) -> Int {
      var count = 0
      for try await chunk in client.chunkSequence(of: request) { count += chunk.count }
      return count
    }

    #expect(try await size(of: Forecast(city: "Rome")) == 7)
    do throws(NetworkFailure) {
      _ = try await size(of: Forecast(city: "Rome"))
      Issue.record("half of a body has a size")
    } catch {
      #expect(error.kind == .transport(.truncated))
    }
  }

  @Test("a watcher shows the last good value with its age, and ends with a wrong key")
  func watcher() throws {
    try Simulation(seed: 1).run {
      let transport = ScriptedTransport([.ok(#"{"name":"Rome","temperature":12}"#), .status(500), .status(401)])
      let client = WebAPIClient(baseURL: URL(string: "https://api.example"), transport: transport, deliveringOn: nil)
      var output: [String] = []
      let failure = await #expect(throws: NetworkFailure.self) {
        let forecasts = try LastGood<String, Place>(capacity: 10)
        let covered = FallbackPolicy<NetworkFailure>().when { $0.kind != .unauthorised }
        let watch = client.publisher(for: Forecast(city: "Rome"))
          .remember(in: forecasts, for: "Rome")
          .fallback(to: forecasts, for: "Rome", covered)
          .repeat(every: .seconds(10))
          .map { place in
            let age = place.age.map { ", \($0.components.seconds) s ago" } ?? ""
            return "\(place.value.temperature) °C in \(place.value.name)\(age)"
          }
        for try await line in watch.values { output.append(line) }
      }
      #expect(output == ["12.0 °C in Rome", "12.0 °C in Rome, 10 s ago"])
      #expect(failure?.kind == .unauthorised)
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

  // Nobody sends the signal: one that comes before Dispatch watches for it is lost, and nothing says from when on it does.
  @Test("a signal is watched for until its source is cancelled")
  func interrupt() {
    let source = cancel(Task<Int32, Never> { 130 }, on: SIGUSR2)
    #expect(!source.isCancelled)
    source.cancel()
    #expect(source.isCancelled)
  }
}
