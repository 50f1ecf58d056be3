/// One decision of a ``HedgePolicy``, and when it was taken, counted from the begin of the execution.
///
/// The attempt with the number 0 is the primary one. A warning if something went wrong, an error if it did for good.
public enum HedgeEvent: Sendable {
  /// Why a hedge begins.
  public enum Reason: Hashable, Sendable {
    /// The attempts before have not answered in time.
    case delay(Duration)
    /// All attempts are made at once.
    case parallel
    /// An attempt has failed.
    case failure
  }

  /// Why no more hedges begin.
  public enum Refusal: Hashable, Sendable {
    /// The budget that this execution shares with others grants none now.
    case budgetExhausted
    /// A failure asked for a pause of this length.
    case hint(Duration)
  }

  /// A hedge begins.
  case begins(hedge: Int, because: Reason, elapsed: Duration)
  /// No more hedges begin.
  case refused(Refusal, elapsed: Duration)
  /// An attempt has failed; a fatal failure ends the whole.
  case failed(hedge: Int, error: any Error, isFatal: Bool, elapsed: Duration)
  /// An attempt has succeeded, and those that still ran are cancelled.
  case won(hedge: Int, cancelled: [Int], elapsed: Duration)
  /// All attempts have failed.
  case exhausted(attempts: Int, elapsed: Duration)
}

extension HedgeEvent: RecordedDecision {
  /// That of hedges.
  public static var kind: PolicyKind { .hedge }

  // Who has won is told apart.
  var record: DecisionRecord {
    switch self {
    case .begins(let hedge, let reason, let elapsed):
      .init(.info, "begins", "\(Self.name(hedge)) begins after \(elapsed) (\(reason.text))")
        .with([.init("hedge", hedge), .init("elapsed", elapsed)])
    case .refused(.budgetExhausted, let elapsed):
      .init(.warning, "budget_exhausted", "no more hedges after \(elapsed) (budget exhausted)")
        .with([.init("elapsed", elapsed)])
    case .refused(.hint(let pause), let elapsed):
      .init(.warning, "asked_to_wait", "no more hedges after \(elapsed) (asked to wait \(pause))")
        .with([.init("retry_after", pause), .init("elapsed", elapsed)])
    case .failed(let hedge, let error, let isFatal, let elapsed):
      .init(
        isFatal ? .error : .warning,
        "failed",
        "\(Self.name(hedge)) failed after \(elapsed)\(isFatal ? ", fatally" : "") (\(error))"
      )
      .with([.init("hedge", hedge), .init("fatal", isFatal), .init("elapsed", elapsed)])
    case .won(let hedge, let cancelled, let elapsed):
      .init(
        .info,
        hedge == 0 ? "first_won" : "hedge_won",
        "\(Self.name(hedge)) won after \(elapsed) (cancelled: \(cancelled.count))"
      )
      .with([.init("hedge", hedge), .init("cancelled", cancelled.count), .init("elapsed", elapsed)])
    case .exhausted(let attempts, let elapsed):
      .init(.error, "exhausted", "all \(attempts) attempts failed after \(elapsed)")
        .with([.init("attempts", attempts), .init("elapsed", elapsed)])
    }
  }

  private static func name(_ hedge: Int) -> String { hedge == 0 ? "primary attempt" : "hedge \(hedge)" }
}

extension HedgeEvent.Reason {
  fileprivate var text: String {
    if case .delay(let delay) = self { "delay of \(delay)" } else { "\(self)" }
  }
}

extension PolicyKind {
  /// That of a ``HedgePolicy``.
  public static let hedge = PolicyKind("hedge")
}
