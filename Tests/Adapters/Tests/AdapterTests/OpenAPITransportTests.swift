import Foundation
import HTTPTypes
import OpenAPIRuntime
import ReboundHTTP
import ReboundHTTPTesting
import ReboundOpenAPI
import Testing

@Suite struct OpenAPITransportTests {
  private func send(
    _ request: HTTPTypes.HTTPRequest = .init(method: .get, scheme: nil, authority: nil, path: "/weather?q=Rome"),
    _ body: HTTPBody? = nil,
    at server: String = "https://a.example/v1",
    over transport: any Transport
  ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody?) {
    let url = try #require(URL(string: server))
    return try await ReboundTransport(transport, requestBytes: 10).send(
      request,
      body: body,
      baseURL: url,
      operationID: "getWeather"
    )
  }

  @Test func requestAndAnswerGoOver() async throws {
    let transport = ScriptedTransport([.response(201, ["Content-Length": "4", "A": "b"], Data("rain".utf8))])
    var post = HTTPTypes.HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/weather?q=Rome")
    post.headerFields = [HTTPField(name: try #require(HTTPField.Name("X")), value: "y")]
    let (response, body) = try await send(post, HTTPBody(Data("{}".utf8)), over: transport)
    #expect(response.status.code == 201)
    #expect(response.headerFields[try #require(HTTPField.Name("A"))] == "b")
    #expect(body?.length == .known(4))
    #expect(try await Data(collecting: try #require(body), upTo: 100) == Data("rain".utf8))
    let call = try #require(transport.calls.first)
    #expect(call.request.url.absoluteString == "https://a.example/v1/weather?q=Rome")
    #expect(call.request.method == .post)
    #expect(call.request.headers["X"] == "y")
    #expect(call.body == Data("{}".utf8))
  }

  @Test(
    arguments: [
      ("https://a.example/v1?tenant=x", "/weather?q=1", "https://a.example/v1/weather?q=1"),
      ("https://a.example/v1#x", "/orders/7", "https://a.example/v1/orders/7"),
      ("https://a.example/v1/", "/orders/7", "https://a.example/v1/orders/7"),
      ("https://a.example/v1", "//orders/7", "https://a.example/v1//orders/7"),
      ("https://a.example", "?q=1", "https://a.example?q=1"), ("https://a.example/v1", nil, "https://a.example/v1"),
    ] as [(String, String?, String)]
  )
  func thePathGoesBelowThatOfTheServer(server: String, path: String?, expected: String) async throws {
    let transport = ScriptedTransport([.status(200)])
    let request = HTTPTypes.HTTPRequest(method: .get, scheme: nil, authority: nil, path: path)
    _ = try await send(request, at: server, over: transport)
    #expect(transport.calls.map(\.request.url.absoluteString) == [expected])
  }

  @Test(arguments: ["@b.example/", "orders/7", "/orders/#7"])
  func whatMakesNoAddressIsNotSentAnywhere(path: String) async {
    let transport = ScriptedTransport([.status(200)])
    let request = HTTPTypes.HTTPRequest(method: .get, scheme: nil, authority: nil, path: path)
    let failure = await #expect(throws: TransportFailure.self) {
      try await send(request, at: "https://a.example", over: transport)
    }
    #expect(failure?.kind == .other)
    #expect(failure?.provesNothingWasSent == true)
    #expect(transport.count == 0)
  }

  @Test func whateverTheStatusAnAnswerIsOne() async throws {
    let (response, _) = try await send(over: ScriptedTransport([.status(503)]))
    #expect(response.status.code == 503)
  }

  @Test func aFailureOfTheNetworkIsThrown() async {
    let failure = await #expect(throws: TransportFailure.self) { try await send(over: ScriptedTransport([.reset])) }
    #expect(failure?.kind == .reset)
  }

  @Test func aRequestThatIsTooLargeIsNotSent() async {
    let transport = ScriptedTransport([.status(200)])
    var post = HTTPTypes.HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/")
    post.headerFields = []
    let failure = await #expect(throws: TransportFailure.self) {
      try await send(post, HTTPBody(Data(count: 11)), over: transport)
    }
    #expect(failure?.kind == .body)
    #expect(transport.count == 0)
  }

  @Test func whatNobodyReadsWaitsInTheNetwork() async throws {
    let transport = HandTransport()
    async let answer = send(over: transport)
    let receiver = await transport.receiver()
    receiver(.head(ResponseHead(status: 200, url: URL(fileURLWithPath: "/"))))
    let body = try #require(try await answer.1)
    #expect(transport.log.isEmpty)
    receiver(.chunk(Data(count: 200_000)))
    receiver(.chunk(Data(count: 200_000)))
    #expect(transport.log == ["pause"])
    var chunks = body.makeAsyncIterator()
    #expect(try await chunks.next()?.count == 200_000)
    #expect(transport.log == ["pause", "resume"])
    receiver(.finished)
    #expect(try await chunks.next()?.count == 200_000)
    #expect(try await chunks.next() == nil)
  }

  @Test func aBodyThatIsLeftIsCancelled() async throws {
    let transport = HandTransport()
    do {
      async let answer = send(over: transport)
      await transport.receiver()(.head(ResponseHead(status: 200, url: URL(fileURLWithPath: "/"))))
      _ = try await answer
    }
    #expect(transport.log == ["cancel"])
  }

  @Test func aCancelledTaskCancelsTheRequest() async throws {
    let transport = HandTransport()
    let task = Task { try await send(over: transport) }
    _ = await transport.receiver()
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(transport.log == ["cancel"])
  }
}
