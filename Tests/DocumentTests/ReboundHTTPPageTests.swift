import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

/// The code of Sources/ReboundHTTP/ReboundHTTP.docc, as it stands there.
@Suite("The code of ReboundHTTP's landing page")
struct ReboundHTTPPageTests {
  @Test("a client tries again, and says what went wrong")
  func client() {
    var subscriptions: Set<AnyCancellable> = []

    struct Place: Decodable {
      let name: String
      let temperature: Double
    }

    struct Forecast: Request {
      let city: String
      var path: RequestPath { "data/2.5/weather" }
      var query: Parameters { ["q": city] }
      typealias Response = Place
    }

    let scheduler = TestScheduler()
    let transport = ScriptedTransport(  // the network in the program
      [.status(503, retryAfter: 2), .ok(#"{"name":"Rome","temperature":12}"#), .status(404)],
      time: scheduler.time
    )
    let client = WebAPIClient(
      baseURL: URL(string: "https://api.example"),
      transport: transport,
      middleware: [Retrying(.http), Caching(in: HTTPCache())],
      deliveringOn: nil,  // left out in the program: the main queue
      time: scheduler.time
    )

    var lines: [String] = []
    for city in ["Rome", "Atlantis"] {
      client.publisher(for: Forecast(city: city))
        .sink { completion in
          if case .failure(let failure) = completion { lines.append(failure.localizedDescription) }
        } receiveValue: { place in
          lines.append("\(place.temperature) °C in \(place.name)")
        }
        .store(in: &subscriptions)
      scheduler.advance(by: .seconds(10))
    }
    #expect(lines == ["12.0 °C in Rome", "It was not found."])
  }

  @Test("policies around another client know which of its failures pass")
  func foreignClient() throws {
    try Simulation(seed: 1).run {
      struct Answer: Sendable {
        let head: ResponseHead
        let body: String
      }

      actor Shop {  // any client: URLSession, AsyncHTTPClient, a generated one
        private var statuses = [503, 503, 200, 404]

        func get(_ url: URL) -> Answer {
          Answer(head: ResponseHead(status: statuses.removeFirst(), url: url), body: "12 €")
        }
      }

      let shop = Shop()
      let url = URL(string: "https://api.example/price?key=s3cret") ?? URL(filePath: "/")
      let breaker = CircuitBreaker(
        "shop",
        policy: try .consecutive(5, openFor: .seconds(30)),
        failingWhen: NetworkFailure.speaksAgainstService
      )
      let pipeline = try Pipeline<Answer>("prices") {
        Retry(.http)
        breaker
        Timeout(attempt: .seconds(3))
      }
      let call = NetworkFailure.Call(operation: "price", url: Redaction.standard.url(url))
      let answers = [  // the first of them after two retries
        try await pipeline.run(foreign: call, head: { $0.head }) { await shop.get(url) },
        try await pipeline.run(foreign: call, head: { $0.head }) { await shop.get(url) },
      ]
      #expect(answers.map(\.head.status) == [200, 404])

      let last = HTTPResponse(
        head: answers[1].head,
        body: Data(answers[1].body.utf8),
        receivedAt: HTTPDate(since1970: TimeSource.current.wallClock)
      )
      let failure = NetworkFailure(last, of: call)
      #expect(failure.localizedDescription == "It was not found.")
    }
  }

  #if !os(Windows)
    @Test("a cache in a folder answers in the next run of a program")
    func cacheInFolder() async throws {
      struct Price: Request {
        var path: RequestPath { "price" }
        struct Response: Decodable, Sendable {
          let price: Int
        }
      }

      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rebound-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let service = URL(string: "https://api.example")
      let failures = Failures()

      // On a busy machine a look may take longer than a client waits for it.
      try await TimeSource.$current.withValue(TestScheduler().time) { () async throws in
        let transport = ScriptedTransport([.ok(#"{"price":12}"#, ["Cache-Control": "max-age=3600"])])
        for _ in 1...2 {  // two runs of a program
          let cache = HTTPCache(storage: .folder(folder, maxBytes: 50_000_000)) { failures.append("\($0)") }
          let client = WebAPIClient(baseURL: service, transport: transport, middleware: [Caching(in: cache)])
          #expect(try await client.value(of: Price()).price == 12)
          await cache.flush()  // what is being written; for the end of a program
        }
        #expect(transport.count == 1)
        #expect(failures.texts == [])
      }
    }
  #endif

  @Test("a date is measured against the server's clock")
  func landingPage() {
    let delay = RetryAfter.delay(
      fields: ["Sun, 06 Nov 1994 08:50:07 GMT"],
      date: "Sun, 06 Nov 1994 08:49:37 GMT",
      receivedAt: HTTPDate(secondsSinceEpoch: 0)
    )
    #expect(delay == .seconds(30))
  }
}

/// What went wrong, from any thread.
private final class Failures: Sendable {
  private let log = Locked<[String]>([])

  var texts: [String] { log.withLock { $0 } }

  func append(_ text: String) { log.withLock { $0.append(text) } }
}
