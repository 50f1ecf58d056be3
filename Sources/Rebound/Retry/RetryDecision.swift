/// What a policy's own code says about one failure.
///
///     .retry()                                         // after the back-off's delay
///     .retry(after: .seconds(3))                       // after this one
///     .retry(retries: 3, delay: .seconds(1))           // after this one, but no more than three times
///     .stop                                            // also spelled .skip: pass the error on
///     .stop(with: otherError)
public struct RetryDecision<Failure: Error>: Sendable {
  package enum Kind: Sendable {
    case retry(limit: Int?, delay: Duration?)
    case stop(Failure?)
  }

  package let kind: Kind

  private init(kind: Kind) {
    self.kind = kind
  }

  /// The same decision about errors of any type.
  init<Typed>(_ typed: RetryDecision<Typed>) where Failure == any Error {
    switch typed.kind {
    case .retry(let limit, let delay): kind = .retry(limit: limit, delay: delay)
    case .stop(let error): kind = .stop(error)
    }
  }

  /// Try again, if the policy has retries left.
  ///
  /// - Parameter delay: Taken as it is, without jitter or cap, unless the error asks for a longer pause itself; `nil`
  ///   leaves it to the back-off.
  public static func retry(after delay: Duration? = nil) -> RetryDecision {
    RetryDecision(kind: .retry(limit: nil, delay: delay))
  }

  /// Try again, unless that many retries were made before.
  ///
  /// - Parameters:
  ///   - retries: How many retries the execution may have had in all, whatever their reasons.
  ///   - delay: As for ``retry(after:)``.
  public static func retry(retries: Int, delay: Duration? = nil) -> RetryDecision {
    RetryDecision(kind: .retry(limit: retries, delay: delay))
  }

  /// Do not try again; the error passes on unchanged.
  public static var stop: RetryDecision { RetryDecision(kind: .stop(nil)) }

  /// Do not try again; the error passes on unchanged.
  public static var skip: RetryDecision { .stop }

  /// Do not try again, and let another error take the place of this one.
  public static func stop(with error: Failure) -> RetryDecision {
    RetryDecision(kind: .stop(error))
  }
}

/// What is known about an execution when one of its attempts has failed.
public struct RetryContext: Hashable, Sendable {
  /// The number of the attempt that failed, from 1.
  public let attempt: Int
  /// How long the execution has run, waits included, on the clock of its scheduler.
  public let elapsed: Duration
  /// The pause that the error asked for.
  public let hint: Duration?

  /// How many retries were made before this failure.
  public var retries: Int { attempt - 1 }

  /// Describes one failure.
  public init(attempt: Int, elapsed: Duration, hint: Duration? = nil) {
    self.attempt = attempt
    self.elapsed = elapsed
    self.hint = hint
  }
}
