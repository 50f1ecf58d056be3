import Rebound

extension NetworkFailure: RefusalConvertible {
  /// The failure for what a policy has refused a call with, for what another client has thrown, or for any other error.
  ///
  ///     client.publisher(for: request).rateLimited(by: limiter)      // fails with .rateLimited
  ///
  /// | error | kind |
  /// |---|---|
  /// | `CircuitOpen`, `Throttled`, `RetriesSuspended` | ``Kind-swift.enum/circuitOpen`` |
  /// | `BulkheadFull` | ``Kind-swift.enum/busy`` |
  /// | `RateLimited` | ``Kind-swift.enum/rateLimited`` |
  /// | `TimedOut` | ``Kind-swift.enum/deadlineExceeded`` for the total limit, ``Kind-swift.enum/transport(_:)`` with a timeout for another |
  /// | `TokenRefreshFailure` | ``Kind-swift.enum/unauthorised``; what the refresh failed with, if that was for the moment |
  /// | `FallbackFailed` | that of the failure for which the fallback was to stand in |
  /// | a cancel | ``Kind-swift.enum/cancelled`` |
  /// | `TransportFailure`; what URLSession, AsyncHTTPClient or SwiftNIO has thrown | ``Kind-swift.enum/transport(_:)`` with its verdict, ``transport``, which has the error |
  /// | any other | ``Kind-swift.enum/other`` |
  ///
  /// The error is ``underlying``, and the pause that it asks for ``retryAfter``. A failure of this type stays what it is.
  ///
  /// A policy does not know the call. So what was cut off counts as not idempotent, and ``isRetryable`` is false; but for what
  /// runs by `Pipeline.run(foreign:)`, which was told the call.
  public init(refusal error: any Error) {
    let error = error.withoutTrace
    if let failure = error as? NetworkFailure {
      self = failure
      return
    }
    let pause = (error as? any RetryAfterProviding)?.retryAfter
    // Nobody knows what has become of it.
    let call = Call.current ?? Call(isIdempotent: false)
    switch error {
    case let failure as TokenRefreshFailure:
      self = NetworkFailure(failure.kind, call: call, retryAfter: pause, underlying: failure)
      if let cause = failure.momentaryCause { adopt(cause, of: failure) }
    case let failure as FallbackFailed:
      self = NetworkFailure(refusal: failure.original)
      underlying = failure
    default:
      var kind = Kind(refusal: error)
      let transport = kind == .other ? TransportFailure(classifying: error) : nil
      if let transport { kind = .transport(transport.kind) }
      self = NetworkFailure(kind, call: call, retryAfter: pause, underlying: transport ?? error)
    }
  }

  /// Takes over what a refresh has failed with for the moment, and keeps the call.
  mutating func adopt(_ cause: NetworkFailure, of failure: TokenRefreshFailure) {
    kind = cause.kind
    isOfRefresh = true
    head = cause.head
    server = cause.server
    underlying = cause.underlying ?? cause
    retryAfter = failure.retryAfter ?? cause.retryAfter
  }
}

extension TokenRefreshFailure {
  /// What a call without a credential fails with.
  ///
  /// Too many refreshes mean that the server refuses every credential that it gives out.
  var kind: NetworkFailure.Kind { needsSignIn || reason == .tooManyRefreshes ? .unauthorised : .other }

  /// What the refresh has failed with, where it may well succeed later.
  var momentaryCause: NetworkFailure? { reason == .failed ? underlying as? NetworkFailure : nil }
}

extension NetworkFailure.Kind {
  fileprivate init(refusal error: any Error) {
    switch error {
    case is CircuitOpen, is Throttled, is RetriesSuspended: self = .circuitOpen
    case is BulkheadFull: self = .busy
    case is RateLimited: self = .rateLimited
    case let timeout as TimedOut:
      switch timeout.kind {
      case .total: self = .deadlineExceeded
      case .attempt: self = .transport(.timeout(.total))
      case .firstValue, .betweenValues: self = .transport(.timeout(.idle))
      }
    case is CancellationError: self = .cancelled
    default: self = .other
    }
  }
}
