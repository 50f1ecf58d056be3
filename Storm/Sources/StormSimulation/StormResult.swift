/// What came of a run, second by second.
public struct StormResult: Hashable, Sendable {
  /// What the clients did about failures.
  public let policy: String
  /// How many requests came in each second, retries included.
  public private(set) var offered: [Int]
  /// How many of them the server answered.
  public private(set) var served: [Int]
  /// How many questions were begun in each second.
  public private(set) var begun: [Int]
  /// How many questions were answered in each second, be it after retries.
  public private(set) var succeeded: [Int]
  /// How many questions were given up in each second.
  public private(set) var givenUp: [Int]
  /// How many requests a second there are without any trouble.
  public let normalLoad: Double
  /// In which seconds the server answered nobody.
  public let outage: Range<Int>

  init(policy: String, scenario: Scenario) {
    self.policy = policy
    offered = Array(repeating: 0, count: scenario.duration)
    (served, begun, succeeded, givenUp) = (offered, offered, offered, offered)
    normalLoad = scenario.normalLoad
    outage = scenario.outage
  }

  mutating func begin(in second: Int) { begun[second] += 1 }
  mutating func succeed(in second: Int) { succeeded[second] += 1 }
  mutating func giveUp(in second: Int) { givenUp[second] += 1 }

  mutating func offer(served isServed: Bool, in second: Int) {
    offered[second] += 1
    if isServed { served[second] += 1 }
  }

  /// All policies through one scenario.
  ///
  /// - Parameter whenDone: Called after each run.
  /// - Throws: What a policy is refused with, if a number in it makes no sense.
  public static func all(
    _ scenario: Scenario,
    policies: [ClientPolicy],
    whenDone: (StormResult) -> Void = { _ in }
  ) throws -> [StormResult] {
    try policies.map { policy in
      let result = try Storm(scenario, policy).run()
      whenDone(result)
      return result
    }
  }

  // MARK: What the table shows

  /// The highest load of a second while the server was down, as a multiple of the normal load.
  public var peakInOutage: Double { peak(outage) }

  /// The highest load of a second since the server is back, as a multiple of the normal load.
  public var peakInRecovery: Double { peak(outage.upperBound..<offered.count) }

  /// All requests since the outage began, as a multiple of what there would have been without it.
  public var amplification: Double {
    let seconds = outage.lowerBound..<offered.count
    return Double(offered[seconds].reduce(0, +)) / (normalLoad * Double(seconds.count))
  }

  /// How many seconds after the outage the server answers as many as ever, and goes on; `nil` if it never does.
  public var secondsToRecover: Int? {
    let isWell = served.indices.map { Double(served[$0]) >= 0.95 * normalLoad && served[$0] * 100 >= offered[$0] * 95 }
    guard let lastBad = isWell.lastIndex(of: false) else { return 0 }
    guard lastBad < served.count - 5 else { return nil }
    return max(lastBad + 1 - outage.upperBound, 0)
  }

  /// Which share of the questions since the outage began was given up.
  public var givenUpShare: Double {
    let seconds = outage.lowerBound..<offered.count
    return Double(givenUp[seconds].reduce(0, +)) / Double(max(begun[seconds].reduce(0, +), 1))
  }

  private func peak(_ seconds: Range<Int>) -> Double {
    Double(offered[seconds].max() ?? 0) / normalLoad
  }
}
