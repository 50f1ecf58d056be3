import Foundation

/// For which failures something else takes the place of an answer.
///
///     let policy = FallbackPolicy<NetworkFailure>()
///       .when(\.isTransient)
///       .onEvent { log.notice("\($0)") }
///     request.fallback(to: .empty, policy)
///     let forecast = try await policy.run { () throws(NetworkFailure) in
///       try await client.forecast(for: city)
///     } fallback: { _ in .empty }
///
/// A policy is a plain value without state. The event keeps the failure that a fallback hides. A cancel is no failure:
/// there is no fallback for `CancellationError`, nor in a task that is cancelled, nor where a wait of a policy has ended because
/// ``Deadline/current`` is over.
public struct FallbackPolicy<Failure: Error>: Sendable {
  package private(set) var condition: @Sendable (Failure) -> Bool = { _ in true }
  package private(set) var observer: (@Sendable (FallbackEvent) -> Void)?

  /// Makes a policy for all failures.
  public init() {}

  /// The same policy for fewer failures: those for which this holds, and every condition before.
  ///
  /// - Parameter condition: Asked on every failure, on the thread of the failure.
  public func when(_ condition: @escaping @Sendable (Failure) -> Bool) -> FallbackPolicy {
    changed(self) { copy in copy.condition = { [earlier = self.condition] in earlier($0) && condition($0) } }
  }

  /// The same policy, told to one more observer.
  ///
  /// - Parameter observer: Gets every decision before it is acted on, on the thread of the failure, with no lock held.
  public func onEvent(_ observer: @escaping @Sendable (FallbackEvent) -> Void) -> FallbackPolicy {
    changed(self) { $0.observer = both($0.observer, observer) }
  }

  /// Whether there is a fallback for a failure, under the deadline that it was asked for with; told to the observer.
  func covers(_ error: Failure) -> Bool {
    if error is CancellationError { return false }
    if isOverdueWait(error) { return false }
    let isCovered = condition(error)
    observer?(isCovered ? .fallingBack(from: error) : .passingOn(error))
    return isCovered
  }

  /// Tells the observer that the fallback has failed, too, unless it was given up.
  func replacementFailed(_ failure: any Error, after original: Failure) {
    if !FallbackFailed.isGivenUp(failure) { observer?(.failed(FallbackFailed(failure: failure, original: original))) }
  }
}

/// One decision of a ``FallbackPolicy``: a warning if something else takes the place of the answer, an error if nothing
/// does.
public enum FallbackEvent: Sendable {
  /// Something else takes the place of the answer, which failed with this.
  case fallingBack(from: any Error)
  /// There is no fallback for this failure, and it passes on.
  case passingOn(any Error)
  /// The fallback has failed, too.
  case failed(FallbackFailed)
}

extension FallbackEvent: RecordedDecision {
  /// That of fallbacks.
  public static var kind: PolicyKind { .fallback }

  var record: DecisionRecord {
    switch self {
    case .fallingBack(let error): .init(.warning, "falling_back", "falling back from \(error)")
    case .passingOn(let error): .init(.error, "passing_on", "no fallback for \(error)")
    case .failed(let failed): .init(.error, "failed", "fallback failed (\(failed.failure)) after \(failed.original)")
    }
  }
}

extension PolicyKind {
  /// That of a ``FallbackPolicy``.
  public static let fallback = PolicyKind("fallback")
}

/// Both an answer and its fallback have failed.
public struct FallbackFailed: RetryAfterProviding {
  /// What the fallback failed with.
  public let failure: any Error
  /// What the answer had failed with, for which the fallback was to stand in.
  public let original: any Error

  /// Describes a fallback that failed.
  public init(failure: any Error, original: any Error) {
    self.failure = failure
    self.original = original
  }

  /// The error for a fallback that has failed: both of them, or as it is what it was given up with.
  static func replacing(_ original: any Error, with failure: any Error) -> any Error {
    isGivenUp(failure) ? failure : FallbackFailed(failure: failure, original: original)
  }

  /// Whether a fallback has ended with a cancel, or with a wait of a policy whose deadline is over: neither is a failure.
  static func isGivenUp(_ failure: any Error) -> Bool {
    failure is CancellationError || isOverdueWait(failure)
  }

  /// The pause that the answer's failure asked for: it is the answer that is tried again.
  public var retryAfter: Duration? { (original as? any RetryAfterProviding)?.retryAfter }
  /// Whether the answer's failure was a refusal.
  public var isRefusal: Bool { (original as? any RetryAfterProviding)?.isRefusal ?? false }
  /// Whether the answer's failure lets the call be made again.
  public var mayBeRepeated: Bool { (original as? any RetryAfterProviding)?.mayBeRepeated ?? true }
}

extension FallbackFailed: CustomStringConvertible {
  /// What happened, and with which errors.
  public var description: String { "The fallback failed (\(failure)) after the request itself had: \(original)" }
}

extension FallbackFailed: LocalizedError {
  /// What happened, in the words for people of the answer's own failure; `nil` if it has none.
  public var errorDescription: String? { (original as? any LocalizedError)?.errorDescription }
  /// Why, in those words.
  public var failureReason: String? { (original as? any LocalizedError)?.failureReason }
  /// What to do next, in those words.
  public var recoverySuggestion: String? { (original as? any LocalizedError)?.recoverySuggestion }
}
