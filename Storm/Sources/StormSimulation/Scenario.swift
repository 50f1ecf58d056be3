/// What happens: how many clients ask how often, what the server can bear, and when it is down.
///
/// Each client asks again after a fixed period, unless the question before is still under way. The clients' moments are
/// spread evenly, so that without trouble the load is the same in each second.
public struct Scenario: Sendable {
  /// How many clients there are.
  public var clients: Int
  /// How many of them share a process, and with it a budget and a circuit breaker.
  public var clientsPerProcess: Int
  /// How many seconds lie between two questions of a client.
  public var period: Int
  /// How many times the normal load the server can bear.
  public var headroom: Double
  /// What it costs the server to refuse a request, as a share of what it costs to serve one.
  ///
  /// It is why a server that is swamped with retries may never come back: see Bronson, Aghayev, Charapko, Zhu,
  /// "Metastable Failures in Distributed Systems", HotOS 2021.
  public var refusalCost: Double
  /// In which seconds the server answers nobody.
  public var outage: Range<Int>
  /// How many seconds are played.
  public var duration: Int
  /// How many milliseconds lie between a request and its answer, a refusal included.
  public var latency: Int
  /// Where all chance comes from.
  public var seed: UInt64

  /// A minute of outage, and what comes of it.
  ///
  /// - Parameters:
  ///   - clients: How many clients there are.
  ///   - seed: Where all chance comes from.
  public init(clients: Int = 1_000_000, seed: UInt64 = 1) {
    self.clients = clients
    clientsPerProcess = 1_000
    period = 20
    headroom = 1.5
    refusalCost = 0.2
    outage = 20..<80
    duration = 180
    latency = 50
    self.seed = seed
  }

  /// How many requests a second there are without any trouble.
  public var normalLoad: Double { Double(clients) / Double(period) }

  /// How many processes the clients live in.
  var processes: Int { max((clients + clientsPerProcess - 1) / clientsPerProcess, 1) }
}

/// The grid of time on which everything happens.
enum Tick {
  static let perSecond = 100
  static let milliseconds = 1_000 / perSecond

  /// How many ticks a pause takes, a part of one counting as one.
  static func count(of pause: Duration) -> Int {
    let (seconds, attoseconds) = pause.components
    let attosecondsPerTick: Int64 = 1_000_000_000_000_000_000 / Int64(perSecond)
    return Int(seconds) * perSecond + Int((attoseconds + attosecondsPerTick - 1) / attosecondsPerTick)
  }
}
