import Foundation
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

/// The code of Sources/ReboundHTTPTesting/ReboundHTTPTesting.docc/Servers-that-misbehave.md, as it stands there.
@Suite("The code of the article about servers that misbehave")
struct ServersThatMisbehaveArticleTests {
  struct Forecast: Request {
    var path: RequestPath { "forecast" }
    typealias Response = Data
  }

  @Test("a script says what happens to the requests for a path")
  func script() async throws {
    let server = try MisbehavingServer()
    server.program("/forecast", .status(503), .closeInBody, .answer("sunny"))
    let client = WebAPIClient(baseURL: server.url(), transport: URLSessionTransport(), deliveringOn: nil)

    let refused = await #expect(throws: NetworkFailure.self) { try await client.value(of: Forecast()) }
    #expect(refused?.kind == .serverError(503))
    let broken = await #expect(throws: NetworkFailure.self) { try await client.value(of: Forecast()) }
    #expect(broken?.kind == .transport(.truncated))
    #expect(try await client.value(of: Forecast()) == Data("sunny".utf8))
    #expect(server.requests.map(\.path) == ["/forecast", "/forecast", "/forecast"])
  }

  @Test("a server that is silent meets a limit in virtual time")
  func silence() async throws {
    let server = try MisbehavingServer()
    let scheduler = TestScheduler()
    let transport = URLSessionTransport(time: scheduler.time)
    let client = WebAPIClient(baseURL: server.url(), transport: transport, deliveringOn: nil)
    server.program("/forecast", .stallBeforeHead)

    let answer = Task { try await client.value(of: Forecast()) }
    await server.stallsReached()
    scheduler.advance(by: .seconds(30))  // the idle limit of TransportLimits.standard
    let failure = await #expect(throws: NetworkFailure.self) { try await answer.value }
    #expect(failure?.kind == .transport(.timeout(.idle)))
  }

  @Test("a fault of one's own keeps a body back until the test says so")
  func late() async throws {
    let server = try MisbehavingServer()
    let client = WebAPIClient(baseURL: server.url(), transport: URLSessionTransport(), deliveringOn: nil)
    let late = Fault("late body", at: .body, [.readBody, .send(Fault.head(length: 5)), .stall, .send("sunny")])
    server.program("/forecast", late)

    let answer = Task { try await client.value(of: Forecast()) }
    await server.stallsReached()
    server.goOn()
    #expect(try await answer.value == Data("sunny".utf8))
  }
}
