import Expectations
import Foundation
import Rebound
import Testing

@testable import ReboundHTTP

struct Place: Codable, Hashable, Sendable {
  var name: String
  var temperature: Double
}

/// As short as a request can be.
struct Forecast: Request {
  let city: String
  var path: RequestPath { "data/2.5/weather" }
  var query: Parameters { ["q": city] }
  typealias Response = Place
}

/// One whose parts a test chooses.
struct Anything: Request {
  var baseURL: URL?
  var path: RequestPath = ""
  var method: HTTPMethod = .get
  var headers: HTTPHeaders = [:]
  var query: Parameters = [:]
  var body: RequestBody = .none
  var validStatuses: ClosedRange<Int> = 200...299
  var idempotency: Idempotency = .byMethod
  var deadline: Duration?
  var limits: TransportLimits?
  var isAuthenticated = true
  var cacheMode: CacheMode = .standard
  var errorParser: ErrorParser = .standard
  var validator: ResponseValidator?
  typealias Response = Data
}

extension URL {
  /// The address of no service.
  static var service: URL { URL(fileURLWithPath: "/").service }

  private var service: URL { URLComponents(string: "https://api.example/v1")?.url ?? self }
}

@Suite("A request becomes a message")
struct RequestMessageTests {
  @Test(
    "whatever stands in path and query, the address is one that Foundation leaves as it is",
    arguments: [
      "https://api.example", "http://API_1.example:8080/v1?key=a%2Fb#top", "https://münchen.example/ä/",
      "http://[::1]/",
    ]
  )
  func everyCharacter(base: String) throws {
    let base = try #require(URL(string: base))
    let odd = [
      "", "/", "//", ".", "..", "a/../b", "%", "%41", "%zz", "?", "#", "[]", "a b", "\u{0}", "\r\n", "é", "e\u{301}",
      "👩‍👩‍👧", "\u{FFFD}",
      "\\", "^`{|}<>\"", "a:b@c", ";,=&+$!*'()",
    ]
    for path in odd {
      for value in odd {
        let message = try Anything(path: RequestPath(path), query: [value: path]).message(base: base)
        let parsed = try #require(URL(string: message.address.text), "\(path), \(value)")
        expectEqual(parsed.absoluteString, message.address.text)
        expectEqual(message.url, parsed)
      }
    }
  }

  @Test("a path, a query and the type of the answer are enough")
  func shortest() throws {
    let message = try Forecast(city: "Rome").message(base: .service)
    #expect(message.url.absoluteString == "https://api.example/v1/data/2.5/weather?q=Rome")
    expectEqual(message.method, .get)
    expectEqual(message.headers["Accept"], "application/json")
    expectEqual(message.body.length, 0)
    expectEqual(Forecast(city: "").operation, "Forecast")
  }

  @Test(
    "data in a query is percent-encoded exactly once",
    arguments: [
      ("São Paulo", "S%C3%A3o%20Paulo"), ("a+b", "a%2Bb"), ("a&b=c", "a%26b%3Dc"), ("100%", "100%25"),
      ("%20", "%2520"), ("#?/", "%23%3F%2F"), ("日本", "%E6%97%A5%E6%9C%AC"), ("a;b", "a%3Bb"), ("'\"", "%27%22"),
    ]
  )
  func queryEncoding(text: String, encoded: String) throws {
    let url = try Forecast(city: text).message(base: .service).url
    #expect(url.absoluteString.hasSuffix("?q=\(encoded)"))
    let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
    expectEqual(components?.queryItems, [URLQueryItem(name: "q", value: text)])
  }

  @Test("names, lists, numbers, booleans, absent values and raw values find their way into a query")
  func parameters() throws {
    enum Units: String, ParameterConvertible { case metric }
    let absent: String? = nil
    let query: Parameters = [
      "a b": "1", "n": 3, "x": 1.5, "yes": true, "absent": absent, "tag": ["a", "b"], "units": Units.metric,
    ]
    let message = try Anything(query: query).message(base: .service)
    expectEqual(message.url.query, "a%20b=1&n=3&x=1.5&yes=true&tag=a&tag=b&units=metric")
  }

  @Test(
    "data in a path stays one step of it",
    arguments: [
      ("joe", "users/joe/posts"), ("a/b", "users/a%2Fb/posts"), ("ü", "users/%C3%BC/posts"),
      ("a?b#c", "users/a%3Fb%23c/posts"), ("%2F", "users/%252F/posts"), ("..a", "users/..a/posts"),
    ]
  )
  func pathEncoding(name: String, path: String) throws {
    let message = try Anything(path: "users/\(name)/posts").message(base: .service)
    #expect(message.url.absoluteString == "https://api.example/v1/\(path)")
  }

  @Test("data that would lead elsewhere is refused", arguments: ["", ".", ".."])
  func pathTraversal(name: String) {
    #expect(throws: InvalidRequest.self) { try Anything(path: "users/\(name)").message(base: .service) }
    #expect(throws: InvalidRequest.self) { try Anything(path: "users/\(name)/posts").message(base: .service) }
  }

  @Test(
    "the address of the service and the path meet at one slash, and queries at one &",
    arguments: [
      ("https://a.example", "b", "https://a.example/b?x=1"),
      ("https://a.example/", "/b", "https://a.example/b?x=1"),
      ("https://a.example/v%201/", "b c", "https://a.example/v%201/b%20c?x=1"),
      ("https://a.example:8080/v1?k=%26", "b/", "https://a.example:8080/v1/b/?k=%26&x=1"),
      ("http://a.example/v1#part", "", "http://a.example/v1?x=1"),
    ]
  )
  func joining(base: String, path: String, expected: String) throws {
    let service = try #require(URL(string: base))
    let message = try Anything(path: RequestPath(path), query: ["x": 1]).message(base: service)
    expectEqual(message.url.absoluteString, expected)
  }

  @Test(
    "an address that cannot be called is refused",
    arguments: ["ftp://a.example", "file:///etc", "a.example", "https://"]
  )
  func badAddress(text: String) throws {
    let base = try #require(URL(string: text))
    #expect(throws: InvalidRequest.self) { try Anything(baseURL: base).message() }
  }

  @Test("without a service there is no message")
  func noService() {
    let error = #expect(throws: InvalidRequest.self) { try Forecast(city: "Rome").message() }
    expectEqual(error.map { "\($0)" }?.hasPrefix("Forecast: no service"), true)
  }

  @Test("a line break in a header field is refused, so nobody writes further fields")
  func headerInjection() {
    let error = #expect(throws: InvalidRequest.self) {
      try Anything(headers: ["X-Name": "a\r\nHost: evil.example"]).message(base: .service)
    }
    guard case .header("X-Name") = error?.reason else {
      Issue.record("refused for another reason: \(String(describing: error))")
      return
    }
  }

  @Test("a body in a GET request is refused", arguments: [.get, .head, .trace] as [HTTPMethod])
  func bodyNotAllowed(method: HTTPMethod) {
    #expect(throws: InvalidRequest.self) {
      try Anything(method: method, body: .form(["a": 1])).message(base: .service)
    }
  }

  @Test("the request's own header fields win over those that are added for it")
  func ownHeaders() throws {
    let message = try Anything(
      method: .post,
      headers: ["content-type": "application/vnd.example+json"],
      body: .json(["a": 1])
    ).message(base: .service)
    expectEqual(message.headers.values(of: "Content-Type"), ["application/vnd.example+json"])
  }

  @Test("URLSession's request has the same method, address, fields, body and timeout")
  func urlRequest() throws {
    let request = Anything(
      path: "a",
      method: .put,
      headers: ["X-A": "1"],
      body: .data(Data("hello".utf8), contentType: "text/plain"),
      limits: TransportLimits(idle: .milliseconds(2_500))
    )
    let urlRequest = try request.urlRequest(base: .service)
    #expect(urlRequest.url?.absoluteString == "https://api.example/v1/a")
    expectEqual(urlRequest.httpMethod, "PUT")
    expectEqual(urlRequest.value(forHTTPHeaderField: "X-A"), "1")
    expectEqual(urlRequest.value(forHTTPHeaderField: "Content-Type"), "text/plain")
    expectEqual(urlRequest.httpBody, Data("hello".utf8))
    expectEqual(urlRequest.timeoutInterval, 2.5)
  }
}
