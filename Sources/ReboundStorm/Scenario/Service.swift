/// What answers the requests: replicas that each do so many at a time, and let others wait.
public struct Service: Codable, Hashable, Sendable {
  /// Who is answered next of those who wait.
  public enum Queue: Codable, Hashable, Sendable {
    /// Who came first.
    case fifo
    /// Who came last.
    case lifo
    /// Who came first; but who has waited too long is refused: longer than `target`, if somebody has waited throughout the
    /// last `interval`, or else longer than that.
    ///
    /// Source: "controlled delay" of Ben Maurer, "Fail at Scale", ACM Queue 13 (8), 2015, after Nichols and Jacobson's CoDel.
    case controlledDelay(target: Double, interval: Double)
  }

  /// Who picks a replica, and how.
  public enum Balancing: String, Codable, Hashable, Sendable {
    /// Any.
    case random
    /// One after the other.
    case roundRobin
    /// The one with the fewest requests.
    case leastRequests
  }

  /// How many there are.
  public var replicas: Int
  /// How many requests each works on at a time.
  public var concurrency: Int
  /// How many wait at each, `nil` for any number.
  ///
  /// Whoever comes when as many wait is refused.
  public var queueLimit: Int?
  /// Who is next.
  public var queue: Queue
  /// How long the work on a request takes.
  public var time: Distribution
  /// How requests are spread over the replicas.
  public var balancing: Balancing
  /// What a refusal costs, as a share of the mean work on a request.
  ///
  /// It is why a service that is swamped with retries may never come back: see Bronson, Aghayev, Charapko, Zhu,
  /// "Metastable Failures in Distributed Systems", HotOS 2021.
  public var refusalCost: Double
  /// Whether work is left out whose client has gone while it waited.
  public var noticesAbandoned: Bool
  /// How much longer work takes for each request that waits, as a share: the collapse of a service under overload.
  public var collapse: Double
  /// How many times as long work takes when the service has come back from an outage: a cold cache.
  public var coldFactor: Double
  /// How long it takes until it is warm again.
  public var warmUp: Double
  /// Which share of its requests a replica takes right after an outage; it grows to all of them within the warm-up.
  public var slowStart: Double
  /// Every how many seconds a replica stands still; 0 for never.
  public var pauseEvery: Double
  /// For how long it stands still: a collection of garbage.
  public var pauseLength: Double
  /// What it asks before it answers, one after the other, while the request goes on holding its place.
  public var dependencies: [Service]

  /// Describes a service.
  ///
  /// - Parameters:
  ///   - replicas: How many there are.
  ///   - concurrency: How many requests each works on at a time.
  ///   - queueLimit: How many wait at each; `nil` for any number.
  ///   - queue: Who is next.
  ///   - time: How long the work on a request takes.
  ///   - balancing: How requests are spread over the replicas.
  ///   - refusalCost: What a refusal costs, as a share of the mean work on a request.
  public init(
    replicas: Int = 1,
    concurrency: Int,
    queueLimit: Int? = nil,
    queue: Queue = .fifo,
    time: Distribution,
    balancing: Balancing = .random,
    refusalCost: Double = 0
  ) {
    self.replicas = replicas
    self.concurrency = concurrency
    self.queueLimit = queueLimit
    self.queue = queue
    self.time = time
    self.balancing = balancing
    self.refusalCost = refusalCost
    noticesAbandoned = true
    collapse = 0
    coldFactor = 1
    warmUp = 0
    slowStart = 1
    pauseEvery = 0
    pauseLength = 0
    dependencies = []
  }

  /// Reads a service; what is not said is as ``init(replicas:concurrency:queueLimit:queue:time:balancing:refusalCost:)`` has it.
  ///
  /// - Throws: What decoders throw, or ``InvalidScenario`` for a name that it does not know.
  public init(from decoder: any Decoder) throws {
    try decoder.requireNames(of: CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      replicas: try values.decodeIfPresent(Int.self, forKey: .replicas) ?? 1,
      concurrency: try values.decode(Int.self, forKey: .concurrency),
      queueLimit: try values.decodeIfPresent(Int.self, forKey: .queueLimit),
      queue: try values.decodeIfPresent(Queue.self, forKey: .queue) ?? .fifo,
      time: try values.decode(Distribution.self, forKey: .time),
      balancing: try values.decodeIfPresent(Balancing.self, forKey: .balancing) ?? .random,
      refusalCost: try values.decodeIfPresent(Double.self, forKey: .refusalCost) ?? 0
    )
    noticesAbandoned = try values.decodeIfPresent(Bool.self, forKey: .noticesAbandoned) ?? noticesAbandoned
    collapse = try values.decodeIfPresent(Double.self, forKey: .collapse) ?? collapse
    coldFactor = try values.decodeIfPresent(Double.self, forKey: .coldFactor) ?? coldFactor
    warmUp = try values.decodeIfPresent(Double.self, forKey: .warmUp) ?? warmUp
    slowStart = try values.decodeIfPresent(Double.self, forKey: .slowStart) ?? slowStart
    pauseEvery = try values.decodeIfPresent(Double.self, forKey: .pauseEvery) ?? pauseEvery
    pauseLength = try values.decodeIfPresent(Double.self, forKey: .pauseLength) ?? pauseLength
    dependencies = try values.decodeIfPresent([Service].self, forKey: .dependencies) ?? dependencies
  }

  /// How many requests a second it can answer, all its replicas together and on the mean of their pauses, when nothing is wrong.
  public var capacity: Double {
    let pauses = pauseEvery > 0 ? pauseLength / pauseEvery : 0
    let own = Double(replicas * concurrency) / holdingTime * (1 - pauses)
    return dependencies.reduce(own) { min($0, $1.capacity) }
  }

  /// For how long a request holds its place on the mean: until all have answered that are asked for it, and those whom they ask.
  private var holdingTime: Double { dependencies.reduce(time.mean) { $0 + $1.holdingTime } }

  /// How many services it consists of: itself, those that it asks, and those whom they ask.
  var partCount: UInt64 { dependencies.reduce(1) { $0 + $1.partCount } }

  /// After how many seconds all pauses have come once, its own and those of whom it asks; 0 if it has none.
  var pauseCycle: Double {
    dependencies.reduce(pauseLength > 0 ? pauseEvery : 0) { max($0, $1.pauseCycle) }
  }

  /// - Parameter name: Where it stands in a scenario.
  func validate(_ name: String = "service") throws(InvalidScenario) {
    for (setting, count) in [("replicas", replicas), ("concurrency", concurrency)] {
      try require((1...1_000_000).contains(count), "\(name).\(setting)", "\(count)", "Give 1 to 1000000.")
    }
    let limit = queueLimit ?? 0
    try require(limit >= 0, "\(name).queueLimit", "\(limit)", "Give 0 for no queue, or null for any length.")
    let numbers = [
      ("refusalCost", refusalCost), ("collapse", collapse), ("warmUp", warmUp), ("pauseEvery", pauseEvery),
      ("pauseLength", pauseLength),
    ]
    for (setting, number) in numbers {
      try require(number >= 0 && number.isFinite, "\(name).\(setting)", "\(number)", "Give a number from 0.")
    }
    if case .controlledDelay(let target, let interval) = queue {
      for (setting, length) in [("target", target), ("interval", interval)] {
        try require(length >= 0 && length.isFinite, "\(name).queue.\(setting)", "\(length)", "Give seconds, from 0.")
      }
    }
    try require(coldFactor >= 1 && coldFactor.isFinite, "\(name).coldFactor", "\(coldFactor)", "Give a number from 1.")
    try require(
      slowStart > 0 && slowStart <= 1,
      "\(name).slowStart",
      "\(slowStart)",
      "Give a share above 0, at most 1."
    )
    try require(
      pauseEvery == 0 || pauseLength < pauseEvery,
      "\(name).pauseLength",
      "\(pauseLength)",
      "Give less than pauseEvery."
    )
    try time.validate("\(name).time")
    for (number, dependency) in dependencies.enumerated() { try dependency.validate("\(name).dependencies.\(number)") }
  }
}

/// Something that goes wrong for a while.
public enum ServiceFault: Codable, Hashable, Sendable {
  /// Every request fails at once, and what waits fails.
  case outage(from: Double, to: Double)
  /// All work takes so many times as long.
  case brownout(factor: Double, from: Double, to: Double)
  /// The work of one replica takes so many times as long.
  case slowReplica(Int, factor: Double, from: Double, to: Double)
  /// Every request to one replica fails at once, and what waits there fails.
  case replicaOutage(Int, from: Double, to: Double)
  /// A share of the requests is never answered.
  case packetLoss(share: Double, from: Double, to: Double)
  /// A share of the processes reaches nobody: their requests are never answered.
  case partition(share: Double, from: Double, to: Double)
  /// What the service asks is out: the first dependency fails every request at once.
  case dependencyOutage(from: Double, to: Double)

  /// When it comes.
  public var begin: Double { span.from }
  /// When it has gone.
  public var end: Double { span.to }

  private var span: (from: Double, to: Double) {
    switch self {
    case .outage(let from, let to), .brownout(_, let from, let to), .slowReplica(_, _, let from, let to),
      .replicaOutage(_, let from, let to), .packetLoss(_, let from, let to), .partition(_, let from, let to),
      .dependencyOutage(let from, let to):
      (from, to)
    }
  }

  func validate(for service: Service) throws(InvalidScenario) {
    try require(
      begin >= 0 && end >= begin && end <= 1e9,
      "faults",
      "\(self)",
      "Give from and to in seconds, in this order, at most 1e9."
    )
    switch self {
    case .brownout(let factor, _, _), .slowReplica(_, let factor, _, _):
      try require(factor > 0 && factor.isFinite, "faults.factor", "\(factor)", "Give a number above 0.")
    case .packetLoss(let share, _, _), .partition(let share, _, _):
      try require((0...1).contains(share), "faults.share", "\(share)", "Give a share from 0 to 1.")
    case .dependencyOutage:
      try require(!service.dependencies.isEmpty, "faults", "\(self)", "Give the service a dependency.")
    case .outage, .replicaOutage: break
    }
    switch self {
    case .slowReplica(let replica, _, _, _), .replicaOutage(let replica, _, _):
      try require(
        (0..<service.replicas).contains(replica),
        "faults.replica",
        "\(replica)",
        "Give one of the service's, from 0."
      )
    default: break
    }
  }
}
