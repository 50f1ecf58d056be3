import Combine
import Rebound
import ReboundHTTP
import ReboundTesting
import StreamSupport

/// A network of a simulation: hosts, what lies between them, and servers that are Swift closures.
///
///     try simulate(runs: 1_000) {
///       let network = SimulatedNetwork(link: SimulatedLink(loss: 0.01, faultRate: 0.2))
///       network.serve("weather.example") { request in .json(#"{"degrees": 21}"#) }
///       let client = WebAPIClient(
///         baseURL: URL(string: "https://weather.example"),
///         transport: network.transport()
///       )
///       …
///     }
///
/// Latency, loss and faults are drawn from the simulation's seed, and take its time. What happens to an exchange besides
/// going well is noted in the diagram of the run. Each exchange is a connection of its own, over TLS or not alike; a server
/// works on each of its requests in a task of its own.
///
/// May be used from any thread. Without a simulation it goes by the time and the chance that it is given.
public final class SimulatedNetwork: Sendable {
  /// Answers a request; to throw breaks off the connection.
  public typealias Handler = @Sendable (SimulatedRequest) async throws -> SimulatedResponse

  struct Way: Hashable {
    let from: String
    let to: String

    /// Names of hosts are the same in both cases (RFC 9110 §4.2.3).
    init(from: String, to: String) {
      (self.from, self.to) = (from.lowercased(), to.lowercased())
    }

    var back: Way { Way(from: to, to: from) }
  }

  /// A host that is known by its name.
  struct Server {
    /// `nil` while its process does not run.
    var handler: Handler?
  }

  private struct State {
    var servers: [String: Server] = [:]
    var links: [Way: SimulatedLink] = [:]
    var traffic: [Way: LinkTraffic] = [:]
    /// All that there have been; those behind the first `healedCount` hold.
    var partitions: [Set<String>] = []
    var healedCount = 0
    var connections: [Int: SimulatedConnection] = [:]
    var connectionCount = 0
    var requestCount = 0

    func isCut(_ way: Way, behind count: Int) -> Bool {
      partitions[count...].contains { $0.contains(way.from) != $0.contains(way.to) }
    }
  }

  /// A message under way.
  struct Transmission {
    let way: Way
    let arrival: Duration
    /// How many partitions there had been when it was sent: any later one between its hosts has it lost.
    let partitionCount: Int
  }

  let time: TimeSource
  private let link: SimulatedLink
  private let random: RandomSource
  private let state = Locked(State())

  /// Makes a network without servers.
  ///
  /// - Parameters:
  ///   - link: What lies between two hosts of which nothing else is said.
  ///   - time: What messages take.
  ///   - random: Draws latencies, losses and faults.
  public init(
    link: SimulatedLink = SimulatedLink(),
    time: TimeSource = .current,
    random: RandomSource = .system
  ) {
    self.link = link
    self.time = time
    self.random = random
  }

  // MARK: Hosts

  /// Starts a server, in the place of one of the same name.
  ///
  /// - Parameters:
  ///   - host: The host in the addresses of requests, without a port.
  ///   - handler: Answers a request, in a task of its own.
  public func serve(_ host: String, _ handler: @escaping Handler) {
    let before = state.withLock { $0.servers.updateValue(Server(handler: handler), forKey: host.lowercased()) }
    withExtendedLifetime(before) {}
  }

  /// Ends the process of a server: its connections break, what it works on is cancelled and answers nobody.
  ///
  /// New connections are refused until ``serve(_:_:)`` starts it again.
  public func stop(_ host: String) {
    Simulation.note("\(host) stops")
    let host = host.lowercased()
    let (before, broken) = state.withLock { state in
      (state.servers.updateValue(Server(), forKey: host), state.connections.values.filter { $0.way.to == host })
    }
    withExtendedLifetime(before) {}
    // In an order that does not change from process to process.
    for connection in broken.sorted(by: { $0.number < $1.number }) { connection.breakOff() }
  }

  /// A host's transport, for its clients.
  ///
  /// - Parameter client: The name of the host that sends.
  public func transport(for client: String = "client") -> any Transport {
    SimulatedTransport(network: self, client: client)
  }

  /// How many requests have reached a server so far.
  public var requestCount: Int { state.withLock { $0.requestCount } }

  // MARK: Links

  /// Puts a link between two hosts, both ways.
  public func connect(_ host: String, _ other: String, by link: SimulatedLink) {
    let way = Way(from: host, to: other)
    state.withLock { state in
      state.links[way] = link
      state.links[way.back] = link
    }
  }

  /// Cuts some hosts off from all others, until ``heal()``: what is sent or under way between them is lost.
  public func partition(_ hosts: Set<String>) {
    Simulation.note("partition: \(hosts.sorted().joined(separator: ", "))")
    let names = Set(hosts.map { $0.lowercased() })
    state.withLock { $0.partitions.append(names) }
  }

  /// Ends all partitions.
  public func heal() {
    Simulation.note("the network heals")
    state.withLock { $0.healedCount = $0.partitions.count }
  }

  // MARK: What connections ask

  /// Whether the way of a message was cut since it was sent, though it be whole again.
  func isLost(_ transmission: Transmission) -> Bool {
    state.withLock { $0.isCut(transmission.way, behind: transmission.partitionCount) }
  }

  /// Sends a message; `nil` if it is lost at once.
  ///
  /// - Parameters:
  ///   - bytes: How large it is.
  ///   - way: Which way it goes.
  ///   - earliest: When the message before it on the same exchange arrives.
  func send(_ bytes: Int, on way: Way, notBefore earliest: Duration = .zero) -> Transmission? {
    let chance = LinkTraffic.Chance(loss: random.next(), latency: random.next())
    let now = time.now
    return state.withLock { state in
      guard !state.isCut(way, behind: state.healedCount) else { return nil }
      let link = state.links[way] ?? link
      return state.traffic[way, default: LinkTraffic()]
        .arrival(of: bytes, notBefore: max(earliest, now), over: link, now: now, chance)
        .map { Transmission(way: way, arrival: $0, partitionCount: state.partitions.count) }
    }
  }

  /// What befalls an exchange; `nil` for nothing.
  func drawFault(on way: Way) -> SimulatedFault? {
    let link = state.withLock { $0.links[way] } ?? link
    guard link.faultRate > 0, !link.faults.isEmpty, random.next() < link.faultRate else { return nil }
    return link.faults[Int(random.next() * Double(link.faults.count))]
  }

  /// The server of a name; `nil` if the name is not known.
  func server(_ host: String) -> Server? { state.withLock { $0.servers[host] } }

  func countRequest() { state.withLock { $0.requestCount += 1 } }

  /// A number for one more connection.
  func nextNumber() -> Int {
    state.withLock { state in
      state.connectionCount += 1
      return state.connectionCount
    }
  }

  func add(_ connection: SimulatedConnection) {
    state.withLock { $0.connections[connection.number] = connection }
  }

  func remove(_ connection: SimulatedConnection) {
    let removed = state.withLock { $0.connections.removeValue(forKey: connection.number) }
    withExtendedLifetime(removed) {}
  }
}
