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

    init(_ request: TransportRequest, _ exchange: OngoingExchange) {
      (self.request, self.exchange) = (request, exchange)
    }

    func start() {
      queue.async { [self] in
        do {
          exchange.connected()
          exchange.receive(ResponseHead(status: 200, url: request.url))
          let body = try request.body.open()
          while case let piece = try body.read(upTo: 16_384), !piece.isEmpty {
            guard exchange.receive(piece) else { return }
          }
          exchange.finish()
        } catch {
          exchange.fail(TransportFailure(.body, underlying: error))
        }
      }
    }

    func stop() {}  // it looks whether more is wanted
    func pause() { queue.suspend() }
    func resume() { queue.resume() }
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

  @Test("a transport is proven by one call")
  func proof() async throws {
    let contract = TransportContract(lacking: [.connectLimit, .backpressure]) {
      URLSessionTransport(time: $0, reachability: $1)
    }
    try await contract.verify { $0.faultCase == nil }
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
