extension Storm {
  /// The load from which on the trouble of a scenario feeds itself: a service that could bear it stays down.
  ///
  ///     let load = try Storm.metastableLoad(in: outage) { try Storm.play($0) { _ in try Pipeline("weather") { Retry(policy) } } }
  ///     #expect(load == nil)
  ///
  /// The scenario is played with its arrivals scaled, by halving the range in which the limit lies. That supposes that a
  /// greater load is no better, as it is where chance does not decide.
  ///
  /// - Parameters:
  ///   - scenario: What happens, at any load.
  ///   - precision: How near to the limit the result is, as a share of what the service can answer; brought into `0.001...0.5`.
  ///   - play: Plays a scenario under the policies in question.
  /// - Returns: Requests a second, or `nil` if it recovers at every load that the service could bear.
  /// - Throws: What the closure throws, or ``InvalidScenario``.
  /// - Complexity: One play at 98 % of what the service can answer, and one for each halving: six for the precision of 2 %.
  public static func metastableLoad(
    in scenario: Scenario,
    precision: Double = 0.02,
    play: (Scenario) throws -> Storm
  ) throws -> Double? {
    try scenario.validate()
    let capacity = scenario.service.capacity
    func staysDown(at share: Double) throws -> Bool {
      var scaled = scenario
      scaled.arrivals = scenario.arrivals.scaled(by: share * capacity / scenario.arrivals.rate)
      return try play(scaled).isMetastable
    }
    var (well, down) = (0.0, 0.98)
    guard try staysDown(at: down) else { return nil }
    while down - well > min(max(precision, 0.001), 0.5) {
      let middle = (well + down) / 2
      if try staysDown(at: middle) { down = middle } else { well = middle }
    }
    return down * capacity
  }
}
