extension Storm {
  /// The load from which on the trouble of a scenario feeds itself: a service that could bear it stays down.
  ///
  ///     let load = try Storm.metastableLoad(in: outage) { scenario in
  ///       try Storm.play(scenario) { _ in try Pipeline("weather") { Retry(policy) } }
  ///     }
  ///     #expect(load == nil)
  ///
  /// The scenario is played with its arrivals scaled, by halving the range in which the limit lies. That supposes that a
  /// greater load is no better, as it is where chance does not decide.
  ///
  /// - Parameters:
  ///   - scenario: What happens, at any load; more than ten seconds of it behind the last fault, and two rounds of the service's pauses, or
  ///     nothing could be seen to stay.
  ///   - precision: How near to the limit the result is, as a share of what the service can answer; brought into `0.001...0.5`.
  ///   - play: Plays a scenario under the policies in question.
  /// - Returns: Requests a second, as ``Arrivals/rate`` counts them, or `nil` if it recovers at every load that the service could
  ///   bear, at the highest of a day as well.
  /// - Throws: What the closure throws, or ``InvalidScenario``.
  /// - Complexity: One play at 98 % of what the service can answer, and one for each halving: six for the precision of 2 %.
  public static func metastableLoad(
    in scenario: Scenario,
    precision: Double = 0.02,
    play: (Scenario) throws -> Storm
  ) throws -> Double? {
    try scenario.validate()
    let secondsToJudge = scenario.secondsToJudge
    try require(
      (scenario.endOfFaults ?? 0).rounded(.up) < scenario.duration.rounded(.up) - secondsToJudge,
      "duration",
      "\(scenario.duration)",
      "Give more than \(secondsToJudge.short) s behind the last fault, or nobody can tell whether all is well again."
    )
    let capacity = scenario.service.capacity
    /// The load at a share of the capacity, if it stays down there.
    func load(at share: Double) throws -> Double? {
      var scaled = scenario
      let factor = share * capacity / scenario.arrivals.peakRate
      scaled.arrivals = scenario.arrivals.scaled(by: factor)
      // Where clients are few, one that was rounded up may be more than the service can bear.
      if scaled.arrivals.peakRate >= capacity {
        scaled.arrivals = scenario.arrivals.scaled(by: factor, rounding: .down)
      }
      return try play(scaled).isMetastable ? scaled.arrivals.rate : nil
    }
    var (well, down) = (0.0, 0.98)
    guard var lowest = try load(at: down) else { return nil }
    while down - well > min(max(precision, 0.001), 0.5) {
      let middle = (well + down) / 2
      if let load = try load(at: middle) { (down, lowest) = (middle, load) } else { well = middle }
    }
    return lowest
  }
}
