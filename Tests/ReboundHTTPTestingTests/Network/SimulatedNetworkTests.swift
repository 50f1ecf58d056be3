import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

struct SimulatedNetworkTests {
  private struct Weather: Decodable, Sendable, Equatable { let degrees: Int }

  private struct Now: Request {
    var path: RequestPath { "now" }
    typealias Response = Weather
  }

  private static let host = "weather.example"
  private static let sunny: SimulatedNetwork.Handler = { _ in .json(#"{"degrees": 21}"#) }

  private static func client(_ network: SimulatedNetwork, named name: String = "client") -> WebAPIClient {
    WebAPIClient(
      baseURL: URL(string: "https://\(host)"),
      transport: network.transport(for: name)
    )
  }

  /// What a call fails with; `nil` if it does not.
  private static func failure(of client: WebAPIClient) async -> NetworkFailure.Kind? {
    do {
      _ = try await client.value(of: Now())
      return nil
    } catch {
      return error.kind
    }
  }

  private static func link(_ milliseconds: Int, _ change: (inout SimulatedLink) -> Void = { _ in }) -> SimulatedLink {
    var link = SimulatedLink(latency: .milliseconds(milliseconds)...(.milliseconds(milliseconds)))
    change(&link)
    return link
  }

  // MARK: Links

  @Test func anExchangeTakesTwoRoundTripsAndTheServersTime() throws {
    let report = try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: Self.link(100))
      network.serve(Self.host) { request in
        try await TimeSource.current.sleep(for: .seconds(3))
        return .json(#"{"degrees": \#(request.path.count)}"#)
      }
      try requireEqual(try await Self.client(network).value(of: Now()), Weather(degrees: 4))
      try requireEqual(network.requestCount, 1)
    }
    expectEqual(report.duration, .milliseconds(3_400))
  }

  @Test func theServerReceivesWhatWasSent() throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork()
      let received = Locked<SimulatedRequest?>(nil)
      network.serve(Self.host) { request in
        received.withLock { $0 = request }
        return .status(204)
      }
      let url = try #require(URL(string: "https://\(Self.host)/orders?today"))
      let request = TransportRequest(url, method: .post, headers: ["X-Shop": "7"], body: .data(Data("soap".utf8)))
      let events = try await Self.events(of: request, on: network, after: .seconds(1))
      try requireEqual(events, ["sent 4", "head 204", "finished"])
      let sent = try #require(received.withLock { $0 })
      try requireEqual(sent.client, "phone")
      try requireEqual(sent.method, .post)
      try requireEqual(sent.path, "/orders")
      try requireEqual(sent.headers["X-Shop"], "7")
      try requireEqual(sent.body, Data("soap".utf8))
    }
  }

  @Test(arguments: [(HTTPMethod.head, 200), (.get, 204), (.get, 304)])
  func anAnswerThatHasNoBodyInHTTPHasNoneHere(method: HTTPMethod, status: Int) throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork()
      network.serve(Self.host) { _ in .json(#"{"degrees": 21}"#, status: status) }
      let url = try #require(URL(string: "https://\(Self.host)/now"))
      let events = try await Self.events(of: TransportRequest(url, method: method), on: network, after: .seconds(1))
      try requireEqual(events, ["head \(status)", "finished"])
    }
  }

  @Test func aLostMessageEndsWithTheIdleLimit() throws {
    let report = try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: Self.link(100))
      network.serve(Self.host, Self.sunny)
      network.connect(
        "phone",
        Self.host,
        by: Self.link(100) {
          $0.faultRate = 1; $0.faults = [.lostRequest]
        }
      )
      try requireEqual(await Self.failure(of: Self.client(network, named: "phone")), .transport(.timeout(.idle)))
      try requireEqual(network.requestCount, 0)
      try requireEqual(await Self.failure(of: Self.client(network)), nil)
    }
    #expect(report.duration >= .seconds(30))
  }

  @Test func aLinkThatLosesAllConnectsNobody() throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: Self.link(100) { $0.loss = 1 })
      network.serve(Self.host, Self.sunny)
      try requireEqual(await Self.failure(of: Self.client(network)), .transport(.timeout(.connect)))
      try requireEqual(TimeSource.current.now, .seconds(10))
    }
  }

  @Test func aProbabilityThatIsNoNumberIsNone() throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: SimulatedLink(loss: .nan, faultRate: .nan))
      network.serve(Self.host, Self.sunny)
      try requireEqual(await Self.failure(of: Self.client(network)), nil)
    }
  }

  @Test func bandwidthIsSharedByAllThatIsUnderWay() throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: SimulatedLink(latency: .zero...(.zero), bytesPerSecond: 1_000))
      network.serve(Self.host) { _ in SimulatedResponse(200, [:], Data(repeating: 7, count: 10_000)) }
      let url = try #require(URL(string: "https://\(Self.host)/picture"))
      let ends = Locked<[Int64]>([])
      let time = TimeSource.current
      for _ in 0..<2 {
        _ = network.transport().start(TransportRequest(url)) { event in
          if case .finished = event { ends.withLock { $0.append(time.now.components.seconds) } }
        }
      }
      try await TimeSource.current.sleep(for: .seconds(60))
      try requireEqual(ends.withLock { $0 }, [10, 20])
    }
  }

  /// The requests of three exchanges that were begun in order, as they reach the server, under many seeds.
  private static func arrivals(reordering: Bool) throws -> Set<[String]> {
    let orders = Locked<Set<[String]>>([])
    try simulate(runs: 50, exploration: .priorities(depth: 1)) {
      let link = SimulatedLink(latency: .milliseconds(1)...(.milliseconds(100)), reorders: reordering)
      let network = SimulatedNetwork(link: link)
      let seen = Locked<[String]>([])
      network.serve(host) { request in
        seen.withLock { $0.append(request.path) }
        return .status(200)
      }
      let base = try #require(URL(string: "https://\(host)"))
      let calls = ["/1", "/2", "/3"].map { path in
        let request = TransportRequest(base.appendingPathComponent(path))
        return network.transport().start(request) { _ in }
      }
      try await TimeSource.current.sleep(for: .seconds(5))
      for call in calls { call.cancel() }
      orders.withLock { _ = $0.insert(seen.withLock { $0 }) }
    }
    return orders.withLock { $0 }
  }

  @Test func messagesOvertakeEachOtherUnlessTheLinkKeepsTheirOrder() throws {
    #expect(try Self.arrivals(reordering: true).count > 1)
    try expectEqual(Self.arrivals(reordering: false), [["/1", "/2", "/3"]])
  }

  @Test func aNetworkWithoutASimulationGoesByTheTimeThatItIsGiven() throws {
    let scheduler = TestScheduler()
    let link = Self.link(10) {
      $0.faultRate = 1; $0.faults = [.unavailable]
    }
    let network = SimulatedNetwork(link: link, time: scheduler.time)
    network.serve(Self.host, Self.sunny)
    let url = try #require(URL(string: "https://\(Self.host)"))
    let events = Locked<[String]>([])
    let exchange = network.transport().start(TransportRequest(url)) { event in
      events.withLock { $0.append(Self.name(of: event)) }
    }
    scheduler.advance(by: .milliseconds(39))
    expectEqual(events.withLock { $0 }, [])
    scheduler.advance(by: .milliseconds(1))
    expectEqual(events.withLock { $0 }, ["head 503", "finished"])
    exchange.cancel()
  }

  // MARK: Hosts

  @Test func aPartitionLastsUntilItHeals() throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: Self.link(10))
      network.serve(Self.host, Self.sunny)
      network.partition([Self.host])
      try requireEqual(await Self.failure(of: Self.client(network)), .transport(.timeout(.connect)))
      network.heal()
      try requireEqual(await Self.failure(of: Self.client(network)), nil)
      try requireEqual(network.requestCount, 1)
    }
  }

  /// Whether an exchange that takes four seconds, one each way and back, tells anything if its way is cut for a moment.
  @Test(arguments: [0.5, 1.5, 2.5, 3.5])
  func whatIsUnderWayAtAPartitionIsLostThoughItHealsAtOnce(seconds: Double) throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: Self.link(1_000))
      network.serve(Self.host, Self.sunny)
      let url = try #require(URL(string: "https://\(Self.host)"))
      async let events = Self.events(of: TransportRequest(url), on: network, after: .seconds(60))
      try await Self.wait(seconds: seconds)
      network.partition(["elsewhere"])
      network.partition([Self.host])
      network.heal()
      let kind: TransportFailure.Kind = seconds < 2 ? .timeout(.connect) : .timeout(.idle)
      try requireEqual(try await events, ["failed: \(kind)"])
    }
  }

  @Test func whatIsUnderWayAtAPartitionOfOthersArrives() throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: Self.link(1_000))
      network.serve(Self.host, Self.sunny)
      async let failure = Self.failure(of: Self.client(network))
      try await Self.wait(seconds: 1.5)
      network.partition(["elsewhere"])
      try requireEqual(await failure, nil)
    }
  }

  @Test func aRefusalIsLostInAPartitionToo() throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: Self.link(1_000))
      network.stop(Self.host)
      async let failure = Self.failure(of: Self.client(network))
      try await Self.wait(seconds: 1.5)
      network.partition([Self.host])
      try requireEqual(await failure, .transport(.timeout(.connect)))
    }
  }

  @Test func anUnknownHostIsNotFound() throws {
    try Simulation(seed: 1).run {
      try requireEqual(await Self.failure(of: Self.client(SimulatedNetwork())), .transport(.dns))
    }
  }

  @Test func aServerThatStopsBreaksItsConnectionsAndRefusesNewOnes() throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: Self.link(10))
      let finished = Locked(0)
      network.serve(Self.host) { _ in
        try await TimeSource.current.sleep(for: .seconds(20))
        finished.withLock { $0 += 1 }
        return .json(#"{"degrees": 21}"#)
      }
      async let underWay = Self.failure(of: Self.client(network))
      try await TimeSource.current.sleep(for: .seconds(5))
      network.stop(Self.host)
      try requireEqual(await underWay, .transport(.reset))
      try requireEqual(await Self.failure(of: Self.client(network)), .transport(.connect))
      network.serve(Self.host, Self.sunny)
      try requireEqual(await Self.failure(of: Self.client(network)), nil)
      try requireEqual(finished.withLock { $0 }, 0)
    }
  }

  @Test func aServerThatStopsRefusesAConnectionThatDoesNotStandYet() throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: Self.link(1_000))
      network.serve(Self.host, Self.sunny)
      async let failure = Self.failure(of: Self.client(network))
      try await Self.wait(seconds: 0.5)
      network.stop(Self.host)
      try requireEqual(await failure, .transport(.connect))
      try requireEqual(network.requestCount, 0)
    }
  }

  @Test func theBreakOfAServerThatStopsStaysBehindTheAnswerThatItHasSent() throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: Self.link(1_000))
      network.serve(Self.host, Self.sunny)
      async let failure = Self.failure(of: Self.client(network))
      try await Self.wait(seconds: 3.5)
      // A way on which the break would be there first.
      network.connect("client", Self.host, by: .perfect)
      network.stop(Self.host)
      try requireEqual(await failure, nil)
    }
  }

  @Test func aServerThatThrowsBreaksTheConnection() throws {
    struct Bug: Error {}
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork()
      network.serve(Self.host) { _ in throw Bug() }
      try requireEqual(await Self.failure(of: Self.client(network)), .transport(.reset))
    }
  }

  @Test func aCancelTellsNothingMoreAndTheServerGoesOn() throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: Self.link(10))
      let finished = Locked(0)
      network.serve(Self.host) { _ in
        try await TimeSource.current.sleep(for: .seconds(3))
        finished.withLock { $0 += 1 }
        return .status(200)
      }
      let url = try #require(URL(string: "https://\(Self.host)"))
      let events = Locked(0)
      let exchange = network.transport().start(TransportRequest(url)) { _ in events.withLock { $0 += 1 } }
      try await TimeSource.current.sleep(for: .seconds(1))
      exchange.cancel()
      try await TimeSource.current.sleep(for: .seconds(10))
      try requireEqual(events.withLock { $0 }, 0)
      try requireEqual(finished.withLock { $0 }, 1)
    }
  }

  @Test func whatComesInAPauseIsToldAfterIt() throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: Self.link(10))
      network.serve(Self.host) { _ in SimulatedResponse(chunks: [Data("a".utf8), Data("b".utf8)]) }
      let url = try #require(URL(string: "https://\(Self.host)"))
      let events = Locked<[String]>([])
      let exchange = network.transport().start(TransportRequest(url)) { event in
        events.withLock { $0.append(Self.name(of: event)) }
      }
      exchange.pause()
      try await TimeSource.current.sleep(for: .seconds(60))
      try requireEqual(events.withLock { $0 }, [])
      exchange.resume()
      try requireEqual(events.withLock { $0 }, ["head 200", "chunk 1", "chunk 1", "finished"])
    }
  }

  // MARK: Faults

  @Test(arguments: [
    (SimulatedFault.refused, NetworkFailure.Kind.transport(.connect), 0),
    (.resetBeforeRequest, .transport(.reset), 0),
    (.lostRequest, .transport(.timeout(.idle)), 0),
    (.unavailable, .serverError(503), 0),
    (.resetBeforeAnswer, .transport(.reset), 1),
    (.lostAnswer, .transport(.timeout(.idle)), 1),
    (.truncated, .transport(.truncated), 1),
  ])
  func aFaultIsWhatItsNameSays(fault: SimulatedFault, kind: NetworkFailure.Kind, served: Int) throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(
        link: Self.link(10) {
          $0.faultRate = 1; $0.faults = [fault]
        }
      )
      network.serve(Self.host, Self.sunny)
      try requireEqual(await Self.failure(of: Self.client(network)), kind)
      try requireEqual(network.requestCount, served)
    }
  }

  @Test func anAnswerWithoutABodyIsNotTruncated() throws {
    struct Discard: Request {
      var path: RequestPath { "now" }
      var method: HTTPMethod { .delete }
      typealias Response = NoContent
    }

    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(
        link: Self.link(10) {
          $0.faultRate = 1; $0.faults = [.truncated]
        }
      )
      network.serve(Self.host) { _ in .status(204) }
      _ = try await Self.client(network).value(of: Discard())
    }
  }

  @Test func namesOfHostsHaveNoCase() throws {
    try Simulation(seed: 1).run {
      let network = SimulatedNetwork(link: Self.link(10))
      network.serve("Weather.EXAMPLE") { request in
        try requireEqual(request.client, "Phone")
        return .json(#"{"degrees": 21}"#)
      }
      let client = WebAPIClient(
        baseURL: URL(string: "https://WEATHER.example"),
        transport: network.transport(for: "Phone")
      )
      let start = TimeSource.current.now
      network.connect("phone", "weather.EXAMPLE", by: Self.link(100))
      _ = try await client.value(of: Now())
      try requireEqual(TimeSource.current.now - start, .milliseconds(400))
      network.partition(["PHONE"])
      try requireEqual(await Self.failure(of: client), .transport(.timeout(.connect)))
      network.heal()
      network.stop("weather.Example")
      try requireEqual(await Self.failure(of: client), .transport(.connect))
    }
  }

  @Test func theSeedDecidesWhatBefallsAnExchange() throws {
    let kinds = { (seed: UInt64) throws -> [NetworkFailure.Kind?] in
      let kinds = Locked<[NetworkFailure.Kind?]>([])
      try Simulation(seed: seed).run {
        let network = SimulatedNetwork(link: SimulatedLink(loss: 0.05, faultRate: 0.5))
        network.serve(Self.host, Self.sunny)
        for _ in 0..<10 {
          let kind = await Self.failure(of: Self.client(network))
          kinds.withLock { $0.append(kind) }
        }
      }
      return kinds.withLock { $0 }
    }
    let first = try kinds(3)
    try expectEqual(kinds(3), first)
    #expect(try Set((4..<10).map(kinds)).count > 1)
  }

  // MARK: Events

  private static func name(of event: TransportEvent) -> String {
    switch event {
    case .sent(let count): "sent \(count)"
    case .head(let head): "head \(head.status)"
    case .chunk(let data): "chunk \(data.count)"
    case .finished: "finished"
    case .failed(let failure): "failed: \(failure.kind)"
    }
  }

  /// Lets so long pass in the simulation's time, which takes none.
  private static func wait(seconds: Double) async throws {
    try await TimeSource.current.sleep(for: .seconds(seconds))
  }

  private static func events(
    of request: TransportRequest,
    on network: SimulatedNetwork,
    after duration: Duration
  ) async throws -> [String] {
    let events = Locked<[String]>([])
    let exchange = network.transport(for: "phone").start(request) { event in
      events.withLock { $0.append(name(of: event)) }
    }
    try await TimeSource.current.sleep(for: duration)
    exchange.cancel()
    return events.withLock { $0 }
  }
}
