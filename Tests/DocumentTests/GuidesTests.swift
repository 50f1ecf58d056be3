import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

/// The code of the guides in the catalogues of Rebound and ReboundHTTP, as it stands there.
@Suite("The code of the guides")
struct GuidesTests {
  private struct Weather: Equatable, Sendable {
    let text: String
  }

  private enum WeatherFailure: Error, Equatable {
    case invalidKey, cityNotFound, offline, server
  }

  private let scheduler = TestScheduler()

  @Test("a stream goes on with a saved copy that says how old it is, after retries with pauses that grow")
  func recoveringStreams() throws {
    let time = scheduler.time
    var attempts = 0
    var isDown = false
    let service = { (city: String) in
      Deferred {
        attempts += 1
        return Result<Weather, WeatherFailure>.Publisher(isDown ? .failure(.server) : .success(Weather(text: "sunny")))
      }
    }
    var shown: [String] = []
    var subscriptions: Set<AnyCancellable> = []

    let saved = try LastGood<String, Weather>(capacity: 50)
    let policy = RetryPolicy<WeatherFailure>(
      clamping: 4,
      backoff: .steps(.seconds(1), .seconds(3), .seconds(5), .seconds(10))
    )
    .when { $0 == .server }
    let search = PassthroughSubject<String, Never>()
    search
      .flatMapLatestResult { city in
        service(city)
          .retry(policy, time: time)
          .remember(in: saved, for: city, time: time)
          .fallback(to: saved, for: city, FallbackPolicy().when { $0 == .server }, time: time)
      }
      .sink { result in
        switch result {
        case .success(let answer):
          let age = answer.age.map { ", \($0.components.seconds) s old" } ?? ""
          shown.append(answer.value.text + age)
        case .failure(let error): shown.append("\(error)")
        }
      }
      .store(in: &subscriptions)

    search.send("Rome")
    isDown = true
    scheduler.advance(by: .seconds(60))
    search.send("Rome")
    scheduler.advance(by: .seconds(19))  // 1 + 3 + 5 + 10
    #expect(shown == ["sunny", "sunny, 79 s old"])
    #expect(attempts == 6)
  }

  @Test("a request waits for a key, or for the network, and is made again")
  func waiting() {
    let key = CurrentValueSubject<String, Never>("old")
    let isOnline = CurrentValueSubject<Bool, Never>(false)
    let request = Deferred {
      Result<Weather, WeatherFailure>.Publisher(
        !isOnline.value
          ? .failure(.offline) : key.value == "old" ? .failure(.invalidKey) : .success(Weather(text: "sunny"))
      )
    }
    var shown: [String] = []
    var subscriptions: Set<AnyCancellable> = []

    let newKey = key.dropFirst().setFailureType(to: WeatherFailure.self)
    let online = isOnline.filter { $0 }.setFailureType(to: WeatherFailure.self)
    request
      .retry(on: .offline, times: 5, after: online)
      .retry(on: .invalidKey, times: 5, after: newKey)
      .sink(receiveCompletion: { _ in }, receiveValue: { shown.append($0.text) })
      .store(in: &subscriptions)
    isOnline.send(true)
    #expect(shown.isEmpty)
    key.send("new")
    #expect(shown == ["sunny"])
  }

  @Test("the other publisher runs once before each retry, and only for the error that was named")
  func retryAfterSomethingElse() {
    enum Failure: Error { case unauthorised, notFound }
    var subscriptions: Set<AnyCancellable> = []
    var requests = 0
    var refreshes = 0
    let request = Deferred {
      requests += 1
      return Fail<String, Failure>(error: .unauthorised)
    }
    let refresh = Deferred {
      refreshes += 1
      return [1, 2, 3].publisher.setFailureType(to: Failure.self)
    }
    var end: Subscribers.Completion<Failure>?

    request
      .retry(on: .unauthorised, times: 3, after: refresh)
      .sink(receiveCompletion: { end = $0 }, receiveValue: { _ in })
      .store(in: &subscriptions)
    #expect(requests == 4)
    #expect(refreshes == 3)

    #expect(end == .failure(.unauthorised))
    var others = 0
    Deferred {
      others += 1
      return Fail<String, Failure>(error: .notFound)
    }
    .retry(on: .unauthorised, times: 3, after: refresh)
    .sink(receiveCompletion: { end = $0 }, receiveValue: { _ in })
    .store(in: &subscriptions)
    #expect(others == 1)
    #expect(end == .failure(.notFound))
  }

  struct Place: Decodable, Sendable {
    let name: String
  }

  struct Forecast: Request {
    let city: String
    var path: RequestPath { "forecast" }
    var query: Parameters { ["q": city] }
    typealias Response = Place
  }

  @Test("each way to fail has a name, keeps what the server said, and comes out of the publisher")
  func networkingLayer() {
    let time = scheduler.time
    var subscriptions: Set<AnyCancellable> = []

    let transport = ScriptedTransport(  // the network in the program
      [.status(500, #"{"message":"The database is full"}"#), .status(304), .reset, .ok(#"{"title":"Rome"}"#)],
      time: time
    )
    let client = WebAPIClient(
      baseURL: URL(string: "https://api.example"),
      transport: transport,
      deliveringOn: nil,  // left out in the program: the main queue
      time: time
    )
    var kinds: [NetworkFailure.Kind] = []
    var words: [String] = []
    for _ in 1...4 {
      client.publisher(for: Forecast(city: "Rome"))
        .sink { completion in
          guard case .failure(let failure) = completion else { return }
          kinds.append(failure.kind)
          words.append(failure.localizedDescription)
        } receiveValue: { _ in
        }
        .store(in: &subscriptions)
      scheduler.advance()
    }
    #expect(kinds == [.serverError(500), .unexpectedStatus(304), .transport(.reset), .decoding])
    #expect(words[0] == "The database is full")

    #expect(words[2] == "The connection to api.example was lost.")
  }

  @Test("a host that is sick does not use up the retries of another")
  func retriesByHost() throws {
    struct Report: Request {
      let baseURL: URL?
      var path: RequestPath { "report" }
      typealias Response = Data
    }

    let time = scheduler.time
    let transport = ScriptedTransport([.status(503)], repeatingLast: true, time: time)

    let client = WebAPIClient(
      baseURL: URL(string: "https://api.example"),
      transport: transport,
      middleware: [Retrying(.http, budgets: try .ratio(0.2))],  // three, and one for five requests, within ten seconds
      deliveringOn: nil,
      time: time
    )

    for (host, count) in [(nil, 6), ("https://other.example", 9)] {
      for _ in 1...(host == nil ? 3 : 1) {
        let recorder = Recorder<Data, NetworkFailure>()
        client.publisher(for: Report(baseURL: host.flatMap(URL.init(string:)))).subscribe(recorder)
        try scheduler.run()
        #expect(recorder.failure?.kind == .serverError(503))
      }
      #expect(transport.count == count)
    }
  }
}
