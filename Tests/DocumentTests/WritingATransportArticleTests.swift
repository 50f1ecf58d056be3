import Dispatch
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import Testing

/// The code of Sources/ReboundHTTPTesting/ReboundHTTPTesting.docc/Writing-a-transport.md, as it stands there.
@Suite("The code of the article on transports")
struct WritingATransportArticleTests {
  final class EchoTransport: Transport {
    private let deadlines: ExchangeDeadlines

    init(time: TimeSource = .current) {
      deadlines = ExchangeDeadlines(time)
    }

    func start(
      _ request: TransportRequest,
      telling receiver: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
      let exchange = OngoingExchange(request.limits, deadlines, telling: receiver)
      let carrier = EchoCarrier(request, exchange)
      exchange.begin(on: carrier)
      carrier.start()
      return exchange
    }
  }

  final class EchoCarrier: ExchangeCarrier {
    private let request: TransportRequest
    private let exchange: OngoingExchange
    private let queue = DispatchQueue(label: "echo")
    private let isWanted = DispatchSemaphore(value: 0)

    init(_ request: TransportRequest, _ exchange: OngoingExchange) {
      (self.request, self.exchange) = (request, exchange)
      isWanted.signal()
    }

    func start() {
      queue.async { [self] in
        do {
          exchange.connected()
          exchange.receive(ResponseHead(status: 200, url: request.url))
          let body = try request.body.open()
          while case let piece = try body.read(upTo: 16_384), !piece.isEmpty {
            isWanted.wait()
            isWanted.signal()
            guard exchange.receive(piece) else { return }
          }
          exchange.finish()
        } catch {
          exchange.fail(TransportFailure(.body, underlying: error))
        }
      }
    }

    func stop() { isWanted.signal() }  // who waits goes on, and learns that nothing is wanted any more
    func pause() { isWanted.wait() }
    func resume() { isWanted.signal() }
  }

  @Test("an echo is a transport")
  func echo() async throws {
    let url = try #require(URL(string: "http://echo.example/"))
    let log = TransportLog()
    let request = TransportRequest(url, method: .put, body: .data(Data("hello".utf8)))
    let exchange = EchoTransport().start(request, telling: log.add)
    await log.end()
    exchange.cancel()
    #expect(log.body == Data("hello".utf8))
  }

  @Test("an echo goes on after a pause, and a cancel within a pause ends it")
  func pauses() async throws {
    let url = try #require(URL(string: "http://echo.example/"))
    let text = Data(repeating: 1, count: 100_000)
    let request = TransportRequest(url, method: .put, body: .data(text))
    for _ in 1...20 {
      let log = TransportLog()
      let exchange = EchoTransport().start(request, telling: log.add)
      exchange.pause()
      exchange.resume()
      await log.end()
      #expect(log.body == text)
      let cancelled = EchoTransport().start(request) { _ in }
      cancelled.pause()
      cancelled.cancel()
    }
  }

  @Test("a transport is proven by one call")
  func proof() async throws {
    let contract = TransportContract(lacking: [.connectLimit, .backpressure, .growingFiles]) {  // as on Linux
      URLSessionTransport(time: $0, reachability: $1)
    }
    let coverage = try await contract.verify { $0.faultCase == nil }
    print(coverage)  // what was proven, and what was not asked for, and why
    #expect(coverage.gaps.map(\.reason).contains("there is no TLSTerminator"))
  }

  private struct Terminator: TLSTerminator {
    struct Failure: Error {}
    let authority: URL

    func listen(before port: UInt16, offering protocols: [String]) async throws -> any TLSListener { throw Failure() }
  }

  private struct MyTransport: Transport {
    let inner: URLSessionTransport

    init(time: TimeSource, reachability: any Reachability, trusting authority: URL) {
      inner = URLSessionTransport(time: time, reachability: reachability)
    }

    func start(
      _ request: TransportRequest,
      telling receiver: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange { inner.start(request, telling: receiver) }
  }

  @Test("what lies behind a handshake is asked for with a terminator")
  func proofBehindTLS() async throws {
    let terminator = Terminator(authority: URL(filePath: "/authority.pem"))
    let contract = TransportContract(tls: terminator) {
      MyTransport(time: $0, reachability: $1, trusting: terminator.authority)
    }
    // TransportContractTests runs them.
    #expect(contract.cases.count { $0.isBehindTLS } > 80)
    let coverage = try await contract.verify { _ in false }
    #expect(coverage.gaps.map(\.reason) == ["the caller has left them out"])
  }

  @Test("a fault is played, and what was told is looked at")
  func fault() async throws {
    let server = try MisbehavingServer()
    server.program("/forecast", .status(503), .closeInBody, .answer("sunny"))

    let log = TransportLog()
    let exchange = URLSessionTransport().start(TransportRequest(server.url("/forecast")), telling: log.add)
    await log.end()
    #expect(log.heads.first?.status == 503)
    #expect(server.requests.first?.method == "GET")
    exchange.cancel()
  }
}
