import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

/// The code of Simulated-networks.md, as it stands there.
@Suite("The code of the article about simulated networks")
struct SimulatedNetworksArticleTests {
  struct PlaceOrder: Request {
    let text: String
    var idempotency = Idempotency.generatedKey
    var method: HTTPMethod { .post }
    var path: RequestPath { "orders" }
    var body: RequestBody { .data(Data(text.utf8), contentType: "text/plain") }
    typealias Response = NoContent
  }

  actor Shop {
    private(set) var orders: [String] = []
    private var keys: Set<String> = []

    func place(_ request: SimulatedRequest) -> SimulatedResponse {
      let isNew = keys.insert(request.headers["Idempotency-Key"] ?? "\(orders.count)").inserted
      if isNew { orders.append(String(decoding: request.body, as: UTF8.self)) }
      return .status(204)
    }
  }

  @Test("an order that is repeated arrives once")
  func order() throws {
    try simulate(runs: 200) {
      let network = SimulatedNetwork(link: SimulatedLink(faultRate: 0.2))
      let shop = Shop()
      network.serve("shop.example") { request in await shop.place(request) }
      let client = WebAPIClient(
        baseURL: URL(string: "https://shop.example"),
        transport: network.transport(),
        middleware: [Retrying(.http(RetryPolicy(clamping: 10, backoff: .constant(.seconds(1)))))]
      )
      _ = try await client.value(of: PlaceOrder(text: "soap"))
      try requireEqual(await shop.orders, ["soap"])
    }
  }

  struct Forecast: Request {
    var path: RequestPath { "forecast" }
    typealias Response = Data
  }

  @Test("a client that tries again outlasts a partition of a quarter of a minute")
  func partition() throws {
    try simulate(runs: 100) {
      let network = SimulatedNetwork()
      network.serve("weather.example") { _ in .json(#"{"degrees": 21}"#) }
      let client = WebAPIClient(
        baseURL: URL(string: "https://weather.example"),
        transport: network.transport(for: "phone"),
        middleware: [Retrying(.http)]
      )
      network.partition(["phone"])
      async let answer = client.value(of: Forecast())
      try await ContinuousClock().sleep(for: .seconds(15))  // virtual time
      network.heal()
      try requireEqual(try await answer, Data(#"{"degrees": 21}"#.utf8))
      try requireEqual(network.requestCount, 1)
    }
  }

  @Test("an order without a key arrives twice")
  func orderWithoutKey() throws {
    #expect(throws: SimulationFailure.self) {
      try simulate(runs: 200) {
        let network = SimulatedNetwork(link: SimulatedLink(faultRate: 0.2))
        let shop = Shop()
        network.serve("shop.example") { request in await shop.place(request) }
        let client = WebAPIClient(
          baseURL: URL(string: "https://shop.example"),
          transport: network.transport(),
          middleware: [Retrying(.http(RetryPolicy(clamping: 10, backoff: .constant(.seconds(1)))))]
        )
        _ = try await client.value(of: PlaceOrder(text: "soap", idempotency: .idempotent))
        try requireEqual(await shop.orders, ["soap"])
      }
    }
  }
}
