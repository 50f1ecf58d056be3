/// When a hedge begins, counted from the begin of the attempt before it.
public struct HedgeDelay: Sendable {
  package enum Kind: Sendable {
    case constant(Duration)
    case parallel
    case afterFailure
    case custom(@Sendable (_ hedge: Int) -> Duration?)
    case percentile(Double, LatencyRecorder, atFirst: Duration)
  }

  package let kind: Kind

  /// After this long without an answer.
  ///
  /// - Parameter delay: Positive.
  public static func after(_ delay: Duration) -> HedgeDelay { HedgeDelay(kind: .constant(delay)) }

  /// All attempts at once.
  public static let parallel = HedgeDelay(kind: .parallel)

  /// Only when an attempt has failed: a retry without a pause.
  public static let afterFailure = HedgeDelay(kind: .afterFailure)

  /// Asks a closure for each hedge.
  ///
  /// - Parameter delay: Gets the number of the hedge, from 1. Zero or less begins it at once, `nil` only after a failure.
  public static func custom(_ delay: @escaping @Sendable (_ hedge: Int) -> Duration?) -> HedgeDelay {
    HedgeDelay(kind: .custom(delay))
  }

  /// When the attempt has taken longer than most of the calls of late.
  ///
  /// - Parameters:
  ///   - share: How many of the calls are to be done by then, above 0 and below 1: 0.95 hedges about one call in twenty.
  ///   - recorder: Knows how long calls take. Every execution with this delay tells it how long its attempts took.
  ///   - first: How long to wait while too few calls are known.
  ///
  /// Source: "deferred requests" of Jeffrey Dean and Luiz André Barroso, "The Tail at Scale", CACM 2013.
  public static func percentile(
    _ share: Double = 0.95,
    of recorder: LatencyRecorder,
    atFirst first: Duration = .seconds(2)
  ) -> HedgeDelay {
    HedgeDelay(kind: .percentile(share, recorder, atFirst: first))
  }

  /// How long to wait for a hedge; `nil` if it only begins after a failure.
  package func delay(of hedge: Int) -> Duration? {
    switch kind {
    case .constant(let delay): delay.clampedToDelay
    case .parallel: .zero
    case .afterFailure: nil
    case .custom(let delay): delay(hedge)?.clampedToDelay
    case .percentile(let share, let recorder, let first): (recorder.percentile(share) ?? first).clampedToDelay
    }
  }

  var recorder: LatencyRecorder? {
    if case .percentile(_, let recorder, _) = kind { recorder } else { nil }
  }

  func validate() throws(InvalidPolicy) {
    let hedge = PolicyKind.hedge
    let advice = "Give a positive duration, or use .parallel or .afterFailure."
    switch kind {
    case .constant(let delay):
      try hedge.require("delay", delay, advice) { $0 > .zero }
    case .percentile(let share, _, let first):
      try hedge.require(
        "percentile",
        share,
        "Give a number above 0 and below 1; 0.95 hedges the slowest 5 %."
      ) { $0 > 0 && $0 < 1 }
      try hedge.require("atFirst", first, advice) { $0 > .zero }
    case .parallel, .afterFailure, .custom:
      // What the closure will return is not known before; each delay is brought into range when it comes.
      break
    }
  }
}
