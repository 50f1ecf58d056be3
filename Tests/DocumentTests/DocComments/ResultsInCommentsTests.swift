import Foundation
import Rebound
import ReboundHTTP
import ReboundStore
import Testing

/// What doc comments say in a comment behind their code that comes of it.
@Suite("What doc comments say that comes of their code")
struct ResultsInCommentsTests {
  @Test("PipelineDescriptor: the kinds of its stages, outermost first")
  func kinds() throws {
    let breaker = CircuitBreaker("api", policy: try CircuitBreakerPolicy(consecutiveFailures: 3))
    let weather = try Pipeline<String>("weather") {
      Fallback(to: "no forecast")
      Timeout(total: .seconds(10))
      Retry(.standard)
      breaker
      Timeout(attempt: .seconds(3))
    }
    #expect(weather.descriptor.kinds == [.fallback, .timeout, .retry, .circuitBreaker, .timeout])
  }

  @Test("Backoff: the first delays of a linear one")
  func backoff() {
    #expect(Array(Backoff.linear(.seconds(1)).delays().prefix(3)) == [.seconds(1), .seconds(2), .seconds(3)])
  }

  @Test("HTTPDate: the seconds since 1970")
  func date() {
    #expect(HTTPDate("Sun, 06 Nov 1994 08:49:37 GMT")?.secondsSinceEpoch == 784_111_777)
  }

  @Test("HTTPHeaders: names know no case")
  func headers() {
    var headers: HTTPHeaders = ["Accept": "application/json"]
    #expect(headers["accept"] == "application/json")
    headers.add("Via", "1.1 proxy")
    #expect(headers.values(of: "Via") == ["1.1 proxy"])
  }

  @Test("Redaction: a secret leaves its name behind")
  func redaction() {
    let fields = Redaction.standard.headers(["Authorization": "Bearer abc"])
    #expect(fields.map { "\($0.name): \($0.value)" } == ["Authorization: …"])
    let line = Redaction.standard.line("failed: https://api.example/?access_token=abc")
    #expect(line == "failed: https://api.example/?access_token=…")
  }

  @Test("TransportRequest: as a command for a shell")
  func curl() throws {
    let url = try #require(URL(string: "https://api.example/login"))
    let headers: HTTPHeaders = ["Content-Type": "application/json"]
    let body = TransportBody.data(Data(#"{"password":"secret"}"#.utf8))
    let request = TransportRequest(url, method: .post, headers: headers, body: body)
    let command = """
      curl -X 'POST' 'https://api.example/login' -H 'Content-Type: application/json' --data-raw '{"password":"…"}'
      """
    #expect(request.curl() == command)
  }

  @Test("RetryAfter: measured against the server's clock")
  func retryAfter() {
    let now = HTTPDate(secondsSinceEpoch: 0)
    let delay = RetryAfter.delay(
      fields: ["Sun, 06 Nov 1994 08:50:07 GMT"],
      date: "Sun, 06 Nov 1994 08:49:37 GMT",
      receivedAt: now
    )
    #expect(delay == .seconds(30))
  }

  @Test("Parameters: a nil is left out, a list repeats its name")
  func parameters() {
    let units: String? = nil
    let parameters: Parameters = ["q": "Rome", "days": 3, "units": units, "tag": ["a", "b"]]
    #expect(parameters.pairs.map { "\($0.name)=\($0.value)" } == ["q=Rome", "days=3", "tag=a", "tag=b"])
  }

  @Test("History: the state before all actions")
  func history() {
    enum Action { case increment }
    let counter = Reducer<Int, Action> { state, _ in state += 1 }
    var history = History(initialState: 0, reducer: counter)
    history.record(.increment)
    #expect(history.state(at: 0) == 0)
    #expect(history.state(at: 1) == 1)
  }

  @Test("Loadable: the phases on the way to a value")
  func loadable() {
    enum Failure: Error { case network }
    var animal = Loadable<String, Failure>()
    animal.begin()
    #expect(animal.phase == .loading(previous: nil, attempt: 1))
    animal.fail(with: .network)
    #expect(animal.phase == .failed(.network, previous: nil, attempt: 1))
    animal.begin()
    #expect(animal.phase == .loading(previous: nil, attempt: 1))
    animal.succeed(with: "Alpaca")
    #expect(animal.phase == .loaded("Alpaca", at: nil))
  }

  @Test("Optimistic: what the server refuses is as if it had not been")
  func optimistic() {
    struct Like: OptimisticChange {
      let id: Int
      let of: String
      func apply(to value: inout [String]) { value.append(of) }
    }
    var likes = Optimistic<Like>([])
    likes.begin(Like(id: 1, of: "Alpaca"))
    #expect(likes.value == ["Alpaca"])
    likes.rollBack(1)
    #expect(likes.value == [])
  }

  @Test("StateDiff: a change in one line")
  func stateDiff() {
    struct Animals { var current: String }
    struct State { var animals: Animals }
    let before = State(animals: Animals(current: "Cat"))
    let after = State(animals: Animals(current: "Dog"))
    #expect(StateDiff.lines(from: before, to: after) == [#"animals.current: "Cat" → "Dog""#])
  }
}
