/// What happens to a service and its clients: who asks how often, what the service bears, and what goes wrong.
///
///     var scenario = Scenario(arrivals: .poisson(perSecond: 200), service: Service(concurrency: 20, time: .exponential(mean: 0.08)))
///     scenario.faults = [.outage(from: 20, to: 50)]
///
/// All lengths of time and moments in it are seconds, as in its JSON form; moments count from the beginning of the play.
public struct Scenario: Codable, Hashable, Sendable {
  /// When requests begin.
  public var arrivals: Arrivals
  /// What answers them.
  public var service: Service
  /// Between a client and the service, there and back.
  public var networkDelay: Double
  /// What goes wrong, and when.
  public var faults: [ServiceFault]
  /// How many processes the clients live in; what a pipeline shares (a budget, a breaker) is that of one process.
  public var processes: Int
  /// For how long it is played.
  public var duration: Double
  /// Where all chance comes from.
  public var seed: UInt64

  /// Describes what happens.
  ///
  /// - Parameters:
  ///   - arrivals: When requests begin.
  ///   - service: What answers them.
  ///   - networkDelay: Between a client and the service, there and back, in seconds.
  ///   - faults: What goes wrong, and when.
  ///   - processes: How many processes the clients live in.
  ///   - duration: For how many seconds it is played.
  ///   - seed: Where all chance comes from.
  public init(
    arrivals: Arrivals,
    service: Service,
    networkDelay: Double = 0,
    faults: [ServiceFault] = [],
    processes: Int = 1,
    duration: Double = 120,
    seed: UInt64 = 1
  ) {
    self.arrivals = arrivals
    self.service = service
    self.networkDelay = networkDelay
    self.faults = faults
    self.processes = processes
    self.duration = duration
    self.seed = seed
  }

  /// Reads a scenario; what is not said is as ``init(arrivals:service:networkDelay:faults:processes:duration:seed:)`` has it.
  ///
  /// - Throws: What decoders throw, or ``InvalidScenario`` for a name that it does not know.
  public init(from decoder: any Decoder) throws {
    try decoder.requireNames(of: CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      arrivals: try values.decode(Arrivals.self, forKey: .arrivals),
      service: try values.decode(Service.self, forKey: .service),
      networkDelay: try values.decodeIfPresent(Double.self, forKey: .networkDelay) ?? 0,
      faults: try values.decodeIfPresent([ServiceFault].self, forKey: .faults) ?? [],
      processes: try values.decodeIfPresent(Int.self, forKey: .processes) ?? 1,
      duration: try values.decodeIfPresent(Double.self, forKey: .duration) ?? 120,
      seed: try values.decodeIfPresent(UInt64.self, forKey: .seed) ?? 1
    )
  }

  /// A minute in which a server answers nobody, from the 20th second to the 80th of 180.
  ///
  /// Each client asks every 20 s. The server bears 1.5 times the normal load, a tenth of a second of work waits in its
  /// queue, and to refuse costs it a fifth of what an answer does.
  ///
  /// - Parameters:
  ///   - clients: How many there are; a thousand of them live in one process.
  ///   - seed: Where all chance comes from.
  public static func minuteOfOutage(clients: Int = 1_000_000, seed: UInt64 = 1) -> Scenario {
    let capacity = max(Double(clients) / 20 * 1.5, 1)
    // So that few clients are as many, made smaller: the answers keep their time, and fewer are given at once.
    let concurrency = max(Int((capacity / 750).rounded()), 1)
    let service = Service(
      concurrency: concurrency,
      queueLimit: max(Int(capacity / 10), 1),
      time: .constant(Double(concurrency) / capacity),
      refusalCost: 0.2
    )
    return Scenario(
      arrivals: .periodic(clients: clients, every: 20),
      service: service,
      networkDelay: 0.05,
      faults: [.outage(from: 20, to: 80)],
      processes: max((clients + 999) / 1_000, 1),
      duration: 180,
      seed: seed
    )
  }

  /// The same scenario with other chance.
  ///
  /// - Parameter seed: Where all chance comes from.
  public func with(seed: UInt64) -> Scenario {
    var scenario = self
    scenario.seed = seed
    return scenario
  }

  /// Refuses numbers that make no sense.
  ///
  /// - Throws: ``InvalidScenario``, with the first of them.
  public func validate() throws(InvalidScenario) {
    try require(
      duration > 0 && duration <= 1e8,
      "duration",
      "\(duration)",
      "Give a positive number of seconds, at most 1e8."
    )
    try require(processes >= 1, "processes", "\(processes)", "Give at least 1.")
    try require(
      networkDelay >= 0 && networkDelay.isFinite,
      "networkDelay",
      "\(networkDelay)",
      "Give seconds, from 0."
    )
    try arrivals.validate()
    try service.validate()
    for fault in faults { try fault.validate(for: service) }
  }

  /// When the last fault has gone; `nil` if there is none.
  public var endOfFaults: Double? { faults.map(\.end).max() }
  /// When the first fault comes; `nil` if there is none.
  public var beginOfFaults: Double? { faults.map(\.begin).min() }

  /// In which second the first fault comes; the first, if there is none.
  var secondOfFaults: Int { Int(beginOfFaults ?? 0) }

  /// In fewer seconds behind the last fault nobody can tell whether trouble stays.
  var secondsToJudge: Double { max(10, 2 * service.pauseCycle) }
}

/// A number in a scenario that makes no sense.
public struct InvalidScenario: Error, Hashable, CustomStringConvertible {
  /// Which setting.
  public let setting: String
  /// What it was to be.
  public let value: String
  /// What to give instead, in whole sentences.
  public let advice: String

  /// What is wrong, and what to give instead.
  public var description: String { "Scenario: \(setting) is \(value). \(advice)" }
}

extension Decoder {
  /// Refuses a name that is none of these: what is not said has a default, so a slip of the pen would be another scenario.
  func requireNames<Key: CodingKey>(of keys: Key.Type) throws {
    let names = try container(keyedBy: AnyCodingKey.self).allKeys.map(\.stringValue).sorted()
    guard let unknown = names.first(where: { Key(stringValue: $0) == nil }) else { return }
    let path = (codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue } + [unknown]).joined(separator: ".")
    throw InvalidScenario(setting: path, value: "unknown", advice: "Leave it out, or correct its name.")
  }
}

private struct AnyCodingKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { nil }
}

func require(
  _ isValid: Bool,
  _ setting: String,
  _ value: @autoclosure () -> String,
  _ advice: String
) throws(InvalidScenario) {
  if !isValid { throw InvalidScenario(setting: setting, value: value(), advice: advice) }
}
