import Rebound

/// What came of a scenario under a policy.
///
///     #expect(storm.recovers(within: .seconds(30)))
///     #expect(storm.amplification <= 1.2)
///
/// Its description says what to change, so that a failed expectation does.
public struct Storm: Hashable, Sendable {
  /// What reports call it.
  public internal(set) var name: String
  /// What happened.
  public let scenario: Scenario
  /// The stages of the pipeline; `nil` if there was none.
  public internal(set) var pipeline: PipelineDescriptor?
  /// What happened in each second.
  public let series: StormSeries
  /// How long the requests took that ended well, as clients see it: with all attempts and waits.
  public let latency: LatencyHistogram

  /// How many requests were given up that began since the first fault came.
  private let givenUpSinceFault: Int

  /// How many requests had not ended with the play, though each was open for longer than any took that did.
  let overdueCount: Int

  /// - Parameters:
  ///   - recorder: What it has counted so far.
  ///   - overdueCount: How many are open for longer than any took that has ended.
  init(name: String, scenario: Scenario, _ recorder: StormRecorder, overdue overdueCount: Int) {
    self.name = name
    self.scenario = scenario
    series = recorder.series
    latency = recorder.latency
    givenUpSinceFault = recorder.givenUpSinceFault
    self.overdueCount = overdueCount
  }

  // MARK: Figures

  /// The seconds in which something was wrong; empty at the beginning if nothing ever was.
  public var trouble: Range<Int> {
    let count = series.begun.count
    let begin = min(scenario.secondOfFaults, count)
    return begin..<max(min(Int((scenario.endOfFaults ?? 0).rounded(.up)), count), begin)
  }

  /// From the first fault to the end.
  var affected: Range<Int> { trouble.lowerBound..<series.begun.count }

  /// The requests a second without any trouble: as they were before the first fault, or as the scenario has it.
  public var normalLoad: Double {
    scenario.loadBeforeTrouble(series.begun.map(Double.init)) ?? scenario.arrivals.rate
  }

  /// All that the service got since the first fault came, as a multiple of what it would have got without it.
  public var amplification: Double {
    let arrivals = scenario.arrivals
    let expected = arrivals.requests(from: Double(affected.lowerBound), to: scenario.duration)
    let normal = expected * normalLoad / arrivals.rate
    return normal > 0 ? Double(series.offered[affected].reduce(0, +)) / normal : 0
  }

  /// The highest load of a second while something was wrong, as a multiple of the normal one.
  public var peakInTrouble: Double { peak(trouble) }

  /// The highest load of a second since nothing is wrong any more, as a multiple of the normal one.
  public var peakAfterTrouble: Double { peak(trouble.upperBound..<series.begun.count) }

  private func peak(_ seconds: Range<Int>) -> Double {
    Double(series.offered[seconds].max() ?? 0) / max(normalLoad, 1e-9)
  }

  /// Which share of the requests that began since the first fault came was given up.
  public var givenUpShare: Double {
    Double(givenUpSinceFault) / Double(max(series.begun[affected].reduce(0, +), 1))
  }

  /// Which share of the service's work since the first fault came was for nobody.
  public var wastedShare: Double {
    let wasted = series.wasted[affected].reduce(0, +)
    return Double(wasted) / Double(max(wasted + series.served[affected].reduce(0, +), 1))
  }

  /// How many seconds after the last fault all is well, and stays so to the end; `nil` if it is not in the play.
  ///
  /// All is well in a second if, counted over as many seconds as it takes for a thousand requests, ten at most, 95 % of
  /// what the service got and of what clients began was answered, and 90 % of the normal load. If the service pauses, it is
  /// counted over as many seconds as it takes for all pauses to come once.
  public var secondsToRecover: Int? {
    // A second that the end of the play cuts off has fewer of all.
    let whole = Int(scenario.duration)
    func counts(_ counts: [Int]) -> [Double] { counts.prefix(whole).map(Double.init) }
    let (served, offered, begun) = (counts(series.served), counts(series.offered), counts(series.begun))
    return Recovery(of: scenario, served: served, offered: offered, begun: begun).seconds(after: trouble.upperBound)
  }

  /// Whether the trouble feeds itself: nothing is wrong any more, the service could bear the load, also where that is highest, and
  /// does not recover.
  ///
  /// It takes more than ten seconds behind the last fault to say so, and two rounds of pauses if the service pauses.
  public var isMetastable: Bool {
    secondsToRecover == nil && Double(series.begun.count - trouble.upperBound) > scenario.secondsToJudge
      && scenario.service.capacity > scenario.arrivals.peakRate
  }

  /// Whether all is well again by so long after the last fault, and stays so.
  ///
  /// - Parameter limit: How long it may take.
  public func recovers(within limit: Duration) -> Bool {
    secondsToRecover.map { .seconds($0) <= limit } ?? false
  }
}
