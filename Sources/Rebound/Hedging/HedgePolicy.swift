import Foundation

/// When to ask a second time without waiting for the first answer, and take whichever comes first.
///
///     let policy = try HedgePolicy<NetworkFailure>(delay: .after(.milliseconds(300)))
///       .when(\.isTransient)
///       .within(budget)
///     request.hedged(policy)
///     let forecast = try await policy.run { hedge throws(NetworkFailure) in
///       try await client.forecast(for: city, from: mirrors[hedge])
///     }
///
/// The first attempt is the primary one; those that follow are hedges. A hedge begins when its delay is over, or at once
/// when an attempt fails in a way that is worth another one. The first attempt that succeeds wins, and the others are
/// cancelled. When all have failed, the failure is the primary's.
///
/// A hedge sends the same request again while the first may still be at work: use it for idempotent requests only, and
/// within a ``RetryBudget``, since a service that is slow because of its load gets more of it.
///
/// A policy is a plain value without state, except for a budget and a ``LatencyRecorder`` that it may refer to.
public struct HedgePolicy<Failure: Error>: Sendable {
  /// How many attempts may follow the first.
  public let maxHedges: Int
  /// When they begin.
  public let delay: HedgeDelay

  package private(set) var condition: @Sendable (Failure) -> Bool = { _ in true }
  package private(set) var hint: @Sendable (Failure) -> Duration? = { pause(askedBy: $0) }
  package private(set) var observer: (@Sendable (HedgeEvent) -> Void)?
  package private(set) var budget: RetryBudget?
  package private(set) var exhaustion: (@Sendable (HedgesFailed<Failure>) -> Failure)?

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - maxHedges: How many attempts may follow the first, in `1...10`.
  ///   - delay: When they begin; 2 s after the one before unless told otherwise, as Polly has it.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public init(maxHedges: Int = 1, delay: HedgeDelay = .after(.seconds(2))) throws(InvalidPolicy) {
    let advice = "Give 1 to 10; for none, leave the hedging out."
    try PolicyKind.hedge.require("maxHedges", maxHedges, advice) { (1...10).contains($0) }
    try delay.validate()
    self.maxHedges = maxHedges
    self.delay = delay
  }

  /// One hedge after 2 s, for every failure.
  public static var standard: HedgePolicy { valid { () throws(InvalidPolicy) in try HedgePolicy() } }

  /// The same policy for fewer failures: those for which this holds, and every condition before.
  ///
  /// Any other failure is fatal: it ends the whole at once, whatever is under way.
  ///
  /// - Parameter condition: Asked on every failure while nobody has won, with no lock held.
  public func when(_ condition: @escaping @Sendable (Failure) -> Bool) -> HedgePolicy {
    changed(self) { copy in copy.condition = { [earlier = self.condition] in earlier($0) && condition($0) } }
  }

  /// The same policy, for failures that say in their own way how long to wait, in place of ``RetryAfterProviding``.
  ///
  /// After a failure that asks for a pause no more hedges begin; those under way go on.
  ///
  /// - Parameter hint: The pause that a failure asks for.
  public func hinted(by hint: @escaping @Sendable (Failure) -> Duration?) -> HedgePolicy {
    changed(self) { $0.hint = hint }
  }

  /// The same policy, told to one more observer.
  ///
  /// - Parameter observer: Gets every decision, in order, with no lock held.
  public func onEvent(_ observer: @escaping @Sendable (HedgeEvent) -> Void) -> HedgePolicy {
    changed(self) { $0.observer = both($0.observer, observer) }
  }

  /// The same policy, with a budget that all who hold it share, retries too, in place of the one before.
  ///
  /// - Parameter budget: Asked for each hedge; when it denies one, no more begin.
  public func within(_ budget: RetryBudget) -> HedgePolicy {
    changed(self) { $0.budget = budget }
  }

  /// The same policy, which fails with another error when all attempts have failed.
  ///
  /// - Parameter error: Makes the error from those of all attempts; called with no lock held.
  public func onExhaustion(_ error: @escaping @Sendable (HedgesFailed<Failure>) -> Failure) -> HedgePolicy {
    changed(self) { $0.exhaustion = error }
  }
}

/// All that went wrong, for ``HedgePolicy/onExhaustion(_:)``.
public struct HedgesFailed<Failure: Error>: Error {
  /// What the attempts failed with, in the order of the failures; 0 is the primary one.
  public let errors: [(hedge: Int, error: Failure)]
  /// What the primary attempt failed with.
  public let underlying: Failure

  /// Describes attempts that have all failed.
  public init(errors: [(hedge: Int, error: Failure)], underlying: Failure) {
    self.errors = errors
    self.underlying = underlying
  }
}

extension HedgesFailed: CustomStringConvertible {
  /// What happened, and with which errors.
  public var description: String {
    let causes = errors.map { "\($0.hedge == 0 ? "primary" : "hedge \($0.hedge)"): \($0.error)" }
    return "All \(errors.count) attempts failed. \(causes.joined(separator: "; "))"
  }
}

extension HedgesFailed: LocalizedError {
  /// What happened, in the words for people of the primary attempt's failure; `nil` if it has none.
  public var errorDescription: String? { (underlying as? any LocalizedError)?.errorDescription }
  /// Why, in those words.
  public var failureReason: String? { (underlying as? any LocalizedError)?.failureReason }
  /// What to do next, in those words.
  public var recoverySuggestion: String? { (underlying as? any LocalizedError)?.recoverySuggestion }
}
