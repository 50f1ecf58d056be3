import ReboundStorm

/// What policies are looked for with, and what they are judged by: never the same, nor of the same seeds.
///
/// In each, a process has 50 requests a second without any trouble, as in the table: a limit of a rate is for a load.
enum Trials {
  /// What a search tries policies on.
  static var seen: [Scenario] {
    var poisson = outage(of: 20, seed: 103, duration: 200)
    poisson.arrivals = .poisson(perSecond: 100)
    return [.minuteOfOutage(clients: clients, seed: 101), brownout(factor: 5, for: 30, seed: 102), poisson]
  }

  /// What no search has seen, each with two seeds.
  static var unseen: [(name: String, scenarios: [Scenario])] {
    let seeds = [11, 12] as [UInt64]
    func trial(_ name: String, _ scenario: (UInt64) -> Scenario) -> (String, [Scenario]) { (name, seeds.map(scenario)) }
    return [
      trial("a minute of outage") { .minuteOfOutage(clients: 2 * clients, seed: $0) },
      trial("15 s of outage") { outage(of: 15, seed: $0) },
      trial("outage, clients that ask every 5 s") { seed in
        var scenario = outage(of: 40, seed: seed)
        scenario.arrivals = .periodic(clients: clients / 4, every: 5)
        return scenario
      },
      trial("outage, requests at random") { seed in
        var scenario = outage(of: 30, seed: seed, duration: 360)
        scenario.arrivals = .poisson(perSecond: 100)
        return scenario
      },
      trial("outage, clients that think for 20 s") { seed in
        var scenario = outage(of: 40, seed: seed)
        scenario.arrivals = .closed(clients: clients, thinkTime: .exponential(mean: 20))
        return scenario
      },
      trial("outage, a quarter of headroom") { seed in
        var scenario = outage(of: 40, seed: seed)
        scenario.service.time = .constant(1 / 125)
        return scenario
      },
      trial("outage, cold caches after it") { seed in
        var scenario = outage(of: 40, seed: seed)
        scenario.service.coldFactor = 2
        scenario.service.warmUp = 20
        return scenario
      },
      trial("brown-out, three times as long") { brownout(factor: 3, for: 60, seed: $0) },
    ]
  }

  private static let clients = 2_000

  private static func outage(of length: Double, seed: UInt64, duration: Double = 180) -> Scenario {
    var scenario = Scenario.minuteOfOutage(clients: clients, seed: seed)
    scenario.faults = [.outage(from: 20, to: 20 + length)]
    scenario.duration = duration
    return scenario
  }

  private static func brownout(factor: Double, for length: Double, seed: UInt64) -> Scenario {
    var scenario = Scenario.minuteOfOutage(clients: clients, seed: seed)
    scenario.faults = [.brownout(factor: factor, from: 20, to: 20 + length)]
    return scenario
  }
}
