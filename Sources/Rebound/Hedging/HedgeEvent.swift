/// One decision of a ``HedgePolicy``, and when it was taken, counted from the begin of the execution.
///
/// The attempt with the number 0 is the primary one.
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

extension HedgeEvent: CustomStringConvertible {
  /// One line for a log: "hedge 1 begins after 2.0 seconds (delay of 2.0 seconds)".
  public var description: String {
    switch self {
    case .begins(let hedge, .delay(let delay), let elapsed):
      "\(Self.name(hedge)) begins after \(elapsed) (delay of \(delay))"
    case .begins(let hedge, .parallel, let elapsed): "\(Self.name(hedge)) begins after \(elapsed) (parallel)"
    case .begins(let hedge, .failure, let elapsed): "\(Self.name(hedge)) begins after \(elapsed) (failure)"
    case .refused(.budgetExhausted, let elapsed): "no more hedges after \(elapsed) (budget exhausted)"
    case .refused(.hint(let pause), let elapsed): "no more hedges after \(elapsed) (asked to wait \(pause))"
    case .failed(let hedge, let error, let isFatal, let elapsed):
      "\(Self.name(hedge)) failed after \(elapsed)\(isFatal ? ", fatally" : "") (\(error))"
    case .won(let hedge, let cancelled, let elapsed):
      "\(Self.name(hedge)) won after \(elapsed) (cancelled: \(cancelled.count))"
    case .exhausted(let attempts, let elapsed): "all \(attempts) attempts failed after \(elapsed)"
    }
  }

  private static func name(_ hedge: Int) -> String { hedge == 0 ? "primary attempt" : "hedge \(hedge)" }
}

extension HedgeEvent: PolicyDecision {
  /// That of hedges.
  public static var kind: PolicyKind { .hedge }

  /// A warning if something went wrong, an error if it did for good.
  public var severity: PolicyEvent.Severity {
    switch self {
    case .begins, .won: .info
    case .failed(_, _, let isFatal, _): isFatal ? .error : .warning
    case .refused: .warning
    case .exhausted: .error
    }
  }

  /// The decision in a word; who has won is told apart: "first_won", "hedge_won".
  public var word: String {
    switch self {
    case .begins: "begins"
    case .refused(.budgetExhausted, _): "budget_exhausted"
    case .refused(.hint, _): "asked_to_wait"
    case .failed: "failed"
    case .won(hedge: 0, _, _): "first_won"
    case .won: "hedge_won"
    case .exhausted: "exhausted"
    }
  }
}

extension PolicyKind {
  /// That of a ``HedgePolicy``.
  public static let hedge = PolicyKind("hedge")
}
