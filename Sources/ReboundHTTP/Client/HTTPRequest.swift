import Combine
import Foundation
import Rebound
import StreamSupport

/// A request on its way through the middleware of a client.
public struct HTTPRequest: Sendable {
  /// What goes over the wire; middleware may change it.
  public var message: TransportRequest
  /// The name of the request.
  public let operation: String
  /// What the client calls this call, the same for all attempts.
  public let id: String
  /// The number of the attempt, from 1.
  public var attempt = 1
  /// The moment by which the call is to be done.
  public var deadline: Deadline?
  /// How long the call may take in all, from its beginning.
  public let timeLimit: Duration?
  /// Whether sending it twice has the effect of sending it once.
  public let isIdempotent: Bool
  /// Whether it is to be sent with the user's credential.
  public let isAuthenticated: Bool
  /// What the cache may do for it.
  public var cacheMode: CacheMode
  /// Who asks.
  ///
  /// What one has asked for is not given to another, neither from the cache nor by joining requests.
  public let identity: String?
  /// Whether 304 is an answer, because a copy is there.
  public var takesNotModified = false

  let validStatuses: ClosedRange<Int>
  let takesWebPages: Bool
  let errorParser: ErrorParser
  let call: CallContext

  /// The host that it goes to, with its port: what fails together.
  public var host: String {
    let port = message.url.port.map { ":\($0)" } ?? ""
    return (message.url.host?.lowercased() ?? "") + port
  }

  /// Tells those who watch the client.
  public func tell(_ event: HTTPEvent.Kind) {
    call.tell(event)
  }

  /// The same request as another attempt.
  func attempt(_ number: Int) -> HTTPRequest {
    var copy = self
    copy.attempt = number
    return copy
  }

  // MARK: Failures

  /// A failure of this request.
  ///
  /// - Parameters:
  ///   - kind: What happened.
  ///   - response: What came, if anything did.
  ///   - underlying: What it was caused by.
  ///   - duration: How long the attempt took.
  public func failure(
    _ kind: NetworkFailure.Kind,
    response: HTTPResponse? = nil,
    underlying: (any Error)? = nil,
    duration: Duration = .zero
  ) -> NetworkFailure {
    NetworkFailure(
      kind,
      call: .init(
        operation: operation,
        method: message.method,
        url: call.redaction.url(message.url),
        requestID: response?.requestID ?? id,
        attempt: attempt,
        duration: response?.duration ?? duration,
        isIdempotent: isIdempotent,
        isReplayable: message.body.isReplayable
      ),
      head: response?.head,
      body: response?.body ?? Data(),
      retryAfter: response?.retryAfter ?? (underlying as? any RetryAfterProviding)?.retryAfter,
      underlying: underlying
    )
  }

  /// Why an answer is none that was asked for; `nil` if it is.
  func rejection(of response: HTTPResponse) -> NetworkFailure? {
    guard validStatuses.contains(response.status) || (takesNotModified && response.status == 304) else {
      var failure = failure(.init(status: response.status), response: response)
      failure.server = errorParser.parse(response)
      return failure
    }
    if !takesWebPages, response.isWebPage { return failure(.captivePortal, response: response) }
    return nil
  }

  /// The failure for an answer that the parser has refused.
  func failure(parsing response: HTTPResponse, _ error: any Error) -> NetworkFailure {
    switch error {
    case let failure as NetworkFailure:
      return failure
    case is NoData:
      return failure(.noData, response: response)
    case is UnexpectedContentType:
      return failure(.unexpectedContentType, response: response, underlying: error)
    default:
      let place = DecodingFailure(error, body: response.body, redaction: call.redaction)
      return failure(.decoding, response: response, underlying: UndecodableAnswer(failure: place, error: error))
    }
  }
}

/// What all parts of one call share: who watches, what must not be seen, and what has failed so far.
///
/// Unchecked, because the lock guards all that changes, and no foreign code runs under it.
final class CallContext: @unchecked Sendable {
  /// How many failures are kept.
  private static let keptFailures = 10

  let time: ClientTime
  let redaction: Redaction
  private let id: String
  private let operation: String
  private let start: Duration
  private let observe: (@Sendable (HTTPEvent) -> Void)?
  private let lock = Lock()
  private var failures: [NetworkFailure] = []

  init(
    id: String,
    operation: String,
    time: ClientTime,
    redaction: Redaction,
    observe: (@Sendable (HTTPEvent) -> Void)?
  ) {
    self.id = id
    self.operation = operation
    self.time = time
    self.redaction = redaction
    self.observe = observe
    start = time.elapsed
  }

  /// Whether anybody watches, for what is only made to be told.
  var isWatched: Bool { observe != nil }

  func tell(_ kind: HTTPEvent.Kind) {
    guard let observe else { return }
    observe(
      HTTPEvent(requestID: id, operation: operation, elapsed: time.elapsed - start, kind: kind, redaction: redaction)
    )
  }

  /// Keeps the failure of an attempt, for the failure of the call to tell of.
  func keep(_ failure: NetworkFailure) {
    let before = lock.withLock {
      let before = failures
      failures = failures.suffix(CallContext.keptFailures - 1) + [failure]
      return before
    }
    withExtendedLifetime(before) {}
  }

  /// The failures that were kept.
  var earlier: [NetworkFailure] { lock.withLock { failures } }
}
