import Foundation

/// Looks for the numbers of a pipeline that do best in scenarios.
///
///     let front = try PolicySearch(scenarios: [outage, brownout], tries: 200).run()
///     let best = try front.judged(on: unseenScenarios).best
///     print(best?.settings.swiftSource ?? "nothing was tried")
///
/// What it begins with is tried first, all of it. A third of the other tries are random, the rest change one to three numbers of a
/// policy on the front so far. The same seed finds the same.
public struct PolicySearch: Sendable {
  /// What policies are tried on: at least one.
  public var scenarios: [Scenario]
  /// How many policies are tried; those of ``start`` count, and none of them is left out.
  public var tries: Int
  /// Where the search begins, besides at random.
  public var start: [PolicySettings]
  /// Where its chance comes from.
  public var seed: UInt64

  /// Describes a search.
  ///
  /// - Parameters:
  ///   - scenarios: What policies are tried on: at least one.
  ///   - tries: How many policies are tried.
  ///   - start: Where the search begins, besides at random.
  ///   - seed: Where its chance comes from.
  public init(
    scenarios: [Scenario],
    tries: Int,
    start: [PolicySettings] = NamedPolicy.ladder.map(\.settings),
    seed: UInt64 = 1
  ) {
    self.scenarios = scenarios
    self.tries = tries
    self.start = start
    self.seed = seed
  }

  /// Tries the policies.
  ///
  /// - Parameter progress: Told after each policy how many were tried, on the caller's thread.
  /// - Returns: Those that no other is better than.
  /// - Throws: ``InvalidScenario``, also if there is none, or what a policy of ``start`` is refused with.
  public func run(progress: (Int) -> Void = { _ in }) throws -> PolicyFront {
    try scenarios.requireSense()
    var random = StormRandom(seed: seed, part: 9)
    var front = PolicyFront()
    // Of a process, which is what a rate limiter is for.
    let load = scenarios.map { $0.arrivals.rate / Double($0.processes) }.max() ?? 1
    for number in 0..<max(tries, start.count) {
      let settings: PolicySettings
      if number < start.count {
        settings = start[number]
      } else if number % 3 == 0 || front.policies.isEmpty {
        settings = .random(&random, load: load)
      } else {
        settings = front.policies[random.index(below: front.policies.count)].settings.changed(&random, load: load)
      }
      front.insert(TunedPolicy(settings: settings, score: try settings.score(on: scenarios)))
      progress(number + 1)
    }
    return front
  }
}

/// The policies that no other is better than: each is the price of something that another does better.
public struct PolicyFront: Hashable, Sendable {
  /// The policies, the fewest given up first.
  public private(set) var policies: [TunedPolicy] = []

  /// Nothing was tried yet.
  public init() {}

  /// Takes a policy, unless one is better, and drops those that it is better than.
  public mutating func insert(_ policy: TunedPolicy) {
    if policies.contains(where: { $0.score.dominates(policy.score) || $0.score == policy.score }) { return }
    policies.removeAll { policy.score.dominates($0.score) }
    policies.append(policy)
    policies.sort { ($0.score.givenUp, $0.score.peakAfterTrouble) < ($1.score.givenUp, $1.score.peakAfterTrouble) }
  }

  /// The front of the same policies on other scenarios, which the search has not seen.
  ///
  /// - Parameter scenarios: What they are judged by: at least one.
  /// - Throws: ``InvalidScenario``, also if there is none.
  public func judged(on scenarios: [Scenario]) throws -> PolicyFront {
    try scenarios.requireSense()
    var front = PolicyFront()
    for policy in policies {
      front.insert(TunedPolicy(settings: policy.settings, score: try policy.settings.score(on: scenarios)))
    }
    return front
  }

  /// The policy of the lowest ``PolicyScore/cost``; `nil` if there is none.
  public var best: TunedPolicy? { policies.min { $0.score.cost < $1.score.cost } }
}

extension [Scenario] {
  /// Refuses scenarios that make no sense, and that there are none: on none, every policy would be the best that can be.
  fileprivate func requireSense() throws(InvalidScenario) {
    try require(!isEmpty, "scenarios", "[]", "Give at least one.")
    for scenario in self { try scenario.validate() }
  }
}

extension PolicySettings {
  /// How the policy does over scenarios.
  ///
  /// - Parameter scenarios: At least one.
  /// - Throws: ``InvalidScenario``, also if there is none, or what a policy is refused with.
  public func score(on scenarios: [Scenario]) throws -> PolicyScore {
    try scenarios.requireSense()
    return PolicyScore(try scenarios.map { try play($0) })
  }

  fileprivate static func random(_ random: inout StormRandom, load: Double) -> PolicySettings {
    var settings = PolicySettings(firstDelay: 1, multiplier: 2, spread: .full)
    for change in changes { change(&settings, &random) }
    settings.limitRate(&random, load: load)
    return settings
  }

  fileprivate func changed(_ random: inout StormRandom, load: Double) -> PolicySettings {
    var settings = self
    for _ in 0...random.index(below: 3) {
      let change = random.index(below: Self.changes.count + 1)
      if change < Self.changes.count {
        Self.changes[change](&settings, &random)
      } else {
        settings.limitRate(&random, load: load)
      }
    }
    return settings
  }

  /// Between the load without any trouble and twice as much, or not at all.
  private mutating func limitRate(_ random: inout StormRandom, load: Double) {
    // A limiter takes a million at most; clients that hardly think are a load beyond all numbers.
    rateLimit = random.unit() < 0.4 ? nil : max(Int(min(load * (1 + random.unit()), 1e6).rounded()), 1)
  }

  /// Each draws one of the numbers anew.
  private static let changes: [@Sendable (inout PolicySettings, inout StormRandom) -> Void] = [
    { $0.maxRetries = [0, 1, 2, 3, 5, 8, 10, 15, 20][$1.index(below: 9)] },
    { $0.firstDelay = $1.logarithmic(from: 0.1, to: 20) },
    { $0.multiplier = [1, 1.5, 2, 3][$1.index(below: 4)] },
    { $0.longestDelay = $1.logarithmic(from: 2, to: 60) },
    { $0.spread = [.equal, .full][$1.index(below: 2)] },
    { $0.deadline = $1.unit() < 0.5 ? nil : $1.logarithmic(from: 5, to: 120) },
    { $0.attemptTimeout = $1.unit() < 0.5 ? nil : $1.logarithmic(from: 0.2, to: 10) },
    { $0.hedgeDelay = $1.unit() < 0.7 ? nil : $1.logarithmic(from: 0.05, to: 5) },
    { $0.budgetRatio = $1.unit() < 0.6 ? nil : $1.logarithmic(from: 0.02, to: 1) },
    { settings, random in
      guard random.unit() < 0.5 else {
        settings.breaker = nil
        return
      }
      var breaker = Breaker()
      breaker.failureRatio = [0.2, 0.5, 0.8][random.index(below: 3)]
      breaker.window = random.logarithmic(from: 2, to: 30)
      breaker.openTime = random.logarithmic(from: 0.5, to: 10)
      breaker.openGrowth = [1, 1.5, 2][random.index(below: 3)]
      breaker.maxOpenTime = max(breaker.openTime, random.logarithmic(from: 1, to: 30))
      breaker.probes = [1, 3, 10][random.index(below: 3)]
      settings.breaker = breaker
    },
    { settings, random in
      settings.throttle =
        random.unit() < 0.4
        ? nil
        : Throttle(factor: [1.1, 1.25, 1.5, 2][random.index(below: 4)], window: random.logarithmic(from: 2, to: 60))
    },
  ]
}

extension StormRandom {
  /// Between two numbers, as likely to be within any factor as within another of the same size; to two digits.
  fileprivate mutating func logarithmic(from low: Double, to high: Double) -> Double {
    let number = exp(log(low) + (log(high) - log(low)) * unit())
    let perDigit = pow(10, 1 - log10(number).rounded(.down))
    return (number * perDigit).rounded() / perDigit
  }
}
