/// Judges whether an answer is one that was asked for: for services that say with a status of success that they have failed.
///
///     struct Balance: Request {
///       let path: RequestPath = "balance"
///       typealias Response = Int
///       var validator: ResponseValidator? {
///         ResponseValidator { answer in answer.head.headers["X-Result"] == "busy" ? .serverError(503) : nil }
///       }
///     }
///
/// It is asked for each attempt, with the whole answer, once the status is valid. So what it finds is a failure like any
/// other: retried, counted by a breaker, answered from a copy. An answer to ``WebAPIClient/download(_:to:verifying:progress:)``
/// and the like is judged without its body, which goes elsewhere.
public struct ResponseValidator: Sendable {
  let judge: @Sendable (HTTPResponse) throws -> NetworkFailure.Kind?

  /// Makes a validator.
  ///
  /// - Parameter judge: What is wrong with the answer; `nil` if nothing is. What it throws is a failure as if the answer
  ///   could not be parsed; a ``NetworkFailure`` is taken as it is.
  public init(_ judge: @escaping @Sendable (HTTPResponse) throws -> NetworkFailure.Kind?) {
    self.judge = judge
  }

  /// A validator that finds valid what both do.
  ///
  /// - Parameter other: Asked if this one finds nothing.
  public func and(_ other: ResponseValidator) -> ResponseValidator {
    ResponseValidator { [judge] answer in try judge(answer) ?? other.judge(answer) }
  }
}
