import Rebound

/// What to change about a pipeline that does not survive its scenario.
public struct Advice: Hashable, Sendable, CustomStringConvertible {
  /// Which stage, from 1, outermost first; `nil` where one is missing.
  public let position: Int?
  /// What that stage is, or would be.
  public let stage: PolicyKind
  /// What is wrong with it, and what to do, in whole sentences.
  public let text: String

  /// The stage, and what to change.
  public var description: String {
    if let position { "Change stage \(position), \(stage): \(text)" } else { "Add a stage, \(stage): \(text)" }
  }
}

extension Storm {
  /// What to change, the most important first; nothing if the service was well soon, got hardly more than without a fault and
  /// worked for those who waited, and every request ended.
  ///
  /// It goes by what the pipeline is made of and by what happened, in this order: retries without a bound, retries in step,
  /// work for nobody, requests that nobody ends.
  public var advice: [Advice] {
    guard let pipeline else { return [] }
    var onRetries: [Advice] = []
    var others: [Advice] = []
    for (index, stage) in pipeline.stages.enumerated() {
      let parameters = Dictionary(stage.parameters.map { ($0.name, $0.value) }) { first, _ in first }
      switch stage.kind {
      case .retry where (isOverrun || isMetastable) && parameters["maxRetries"] != "0":
        onRetries.append(adviceOnRetry(at: index, parameters))
      case .timeout where wastedShare > 0.2:
        let text =
          "\(wastedShare.percent) of the service's work was for callers that had left. Give it more time than the "
          + "service takes under load, or have the service refuse sooner (a shorter queue)."
        others.append(Advice(position: index + 1, stage: .timeout, text: text))
      default: break
      }
    }
    // Of a service that is well, some requests are always under way when a play ends.
    let open = series.begun.reduce(0, +) - (series.succeeded + series.givenUp).reduce(0, +)
    let unfinished = secondsToRecover == nil ? open : overdueCount
    if !pipeline.kinds.contains(.timeout), Double(unfinished) > 0.05 * Double(series.begun.reduce(0, +)) {
      let text = "\(unfinished) requests were never ended. Write Timeout(attempt: .seconds(…)) innermost."
      others.append(Advice(position: nil, stage: .timeout, text: text))
    }
    return onRetries + others
  }

  /// Whether the service got much more than usual because requests were made again: what clients begin in bursts, at noon or by
  /// chance is no policy's.
  private var isOverrun: Bool {
    let begun = Double(series.begun[affected].reduce(0, +))
    let again = Double(series.offered[affected].reduce(0, +)) - begun
    let normal = normalLoad
    return amplification > 1.2 && again > 0.2 * begun
      || affected.contains { second in
        let offered = Double(series.offered[second])
        return offered > 1.5 * normal && offered - Double(series.begun[second]) > 0.5 * normal
      }
  }

  private func adviceOnRetry(at index: Int, _ parameters: [String: String]) -> Advice {
    let peak = max(peakInTrouble, peakAfterTrouble).shown(2)
    let backoff = parameters["backoff"] ?? ""
    // Nobody knows how much chance is in a closure of one's own.
    let isInStep = !backoff.contains("jitter") && !backoff.hasPrefix("custom")
    if parameters["budget"] == nil {
      let delays = isInStep ? ", and backoff: .standard, which spreads them" : ""
      let text =
        "it made the load \(peak) times the normal one. Bound it: give it "
        + "budget: try RetryBudget.ratio(0.1, window: .seconds(2), floor: 1), one for the process\(delays)."
      return Advice(position: index + 1, stage: .retry, text: text)
    }
    if isInStep {
      let text = "its clients come back in step. Give it backoff: .standard, or .jittered(.full)."
      return Advice(position: index + 1, stage: .retry, text: text)
    }
    let text =
      "it made the load \(peak) times the normal one. Give its budget a smaller ratio, or the retry fewer attempts."
    return Advice(position: index + 1, stage: .retry, text: text)
  }
}

extension Storm: CustomStringConvertible {
  /// What came of it in one line, and what to change in one line each.
  public var description: String { ([summary] + advice.map { "\($0)" }).joined(separator: "\n") }

  /// What came of it in one line.
  var summary: String {
    let recovery = secondsToRecover.map { "recovered after \($0) s" } ?? "never recovered"
    return
      "\(name): \(recovery)\(isMetastable ? " (metastable: the fault is gone, its retries are not)" : ""), load at most "
      + "\(peakInTrouble.shown(2)) × in the fault and \(peakAfterTrouble.shown(2)) × after it, \(amplification.shown(2)) × in "
      + "all, \(givenUpShare.percent) given up, p99 \(p99)"
  }

  /// What stands in a row of a table behind the name.
  var cells: [String] {
    [
      "\(peakInTrouble.shown(2)) ×", "\(peakAfterTrouble.shown(2)) ×", "\(amplification.shown(2)) ×",
      secondsToRecover.map { "\($0) s" } ?? "never", givenUpShare.percent, p99,
    ]
  }

  private var p99: String { latency.count == 0 ? "none" : "\(latency.percentile(0.99).shown(2)) s" }
}

extension Storm {
  /// Throws what is wrong, and what to change, unless all is well again by so long after the last fault.
  ///
  /// - Parameter limit: How long it may take.
  /// - Throws: ``StormFailure``.
  public func requireRecovery(within limit: Duration) throws(StormFailure) {
    if !recovers(within: limit) { throw StormFailure(expectation: "recovers within \(limit)", storm: self) }
  }
}

/// A storm that a pipeline does not survive as expected.
public struct StormFailure: Error, CustomStringConvertible {
  /// What was expected.
  public let expectation: String
  /// What came of it.
  public let storm: Storm

  /// What was expected, what came of it, and what to change.
  public var description: String { "Expected: \(expectation). What came of it, and what to change:\n\(storm)" }
}

extension Double {
  /// The number with so many decimals, the same on every machine.
  func shown(_ decimals: Int) -> String {
    let factor = (0..<decimals).reduce(1) { product, _ in product * 10 }
    let limit = Double(Int.max / factor / 2)
    let units = Int((Swift.min(Swift.max(self, -limit), limit) * Double(factor)).rounded())
    guard decimals > 0 else { return String(units) }
    let fraction = String(units.magnitude % UInt(factor))
    let zeros = String(repeating: "0", count: decimals - fraction.count)
    return "\(units < 0 ? "-" : "")\(units.magnitude / UInt(factor)).\(zeros)\(fraction)"
  }

  /// The number with one decimal, if it needs one.
  var short: String {
    let text = shown(1)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// The share as "37.5 %".
  var percent: String { "\((self * 100).shown(1)) %" }
}
