import Combine
import Foundation
import Rebound
import StreamSupport

/// A request on its way through the middleware of a client.
public struct HTTPRequest: Sendable {
  /// What goes over the wire; middleware may change it.
  public var message: TransportRequest {
    get { parts.message }
    _modify { yield &parts.message }
  }
  /// The number of the attempt, from 1.
  public var attempt: Int {
    get { parts.attempt }
    set { parts.attempt = newValue }
  }
  /// The moment by which the call is to be done.
  public var deadline: Deadline? {
    get { parts.deadline }
    set { parts.deadline = newValue }
  }
  /// What the cache may do for it.
  public var cacheMode: CacheMode {
    get { parts.cacheMode }
    set { parts.cacheMode = newValue }
  }
  /// Whether 304 is an answer, because a copy is there.
  public var takesNotModified: Bool {
    get { parts.takesNotModified }
    set { parts.takesNotModified = newValue }
  }
  /// When the attempt began, for a hop that goes through middleware.
  var attemptStart: Duration { parts.attemptStart }
  /// What is asked about a copy of the answer; `nil` if there is none.
  var question: CopyQuestion? { parts.question }
  /// How often a cache had forgotten anything when this was asked for: what was asked for before that is not for this one.
  var cacheGeneration: Int { parts.cacheGeneration }
  /// `nil` unless a redirect has led here.
  var redirection: Redirection? { parts.redirection }
  /// Whether an answer with this head is followed by another request, so that its body need not come.
  var isFollowed: (@Sendable (ResponseHead) -> Bool)? { parts.isFollowed }
  /// Where the body of the answer goes; `nil` for into memory.
  var destination: (any BodyDestination)? { parts.destination }
  /// All that stays the same.
  var call: CallContext { parts.call }

  struct Parts: Sendable {
    var message: TransportRequest
    var attempt = 1
    var deadline: Deadline?
    var cacheMode: CacheMode
    var takesNotModified = false
    var question: CopyQuestion?
    var cacheGeneration = 0
    /// Set by the stage of the attempt, as is what follows.
    var attemptStart = Duration.zero
    var redirection: Redirection?
    var isFollowed: (@Sendable (ResponseHead) -> Bool)?
    var destination: (any BodyDestination)?
    var call: CallContext
  }

  // One word in place of some thirty.
  private var boxed: Boxed<Parts>
  private var parts: Parts {
    get { boxed.value }
    _modify { yield &boxed.value }
  }

  mutating func change(_ change: (inout Parts) -> Void) { change(&parts) }

  /// Makes a request by hand: for a test of middleware, or for middleware that asks something of its own.
  ///
  ///     let request = HTTPRequest(TransportRequest(service), operation: "Weather")
  ///
  /// Those that a client makes go through its middleware in the same form. Nobody watches this one, and its failures
  /// show what ``Redaction/standard`` lets through. Valid are the statuses from 200 to 299.
  ///
  /// - Parameters:
  ///   - message: What goes over the wire.
  ///   - operation: Its name, for failures.
  ///   - id: What tells the call from others.
  ///   - attempt: The number of the attempt, from 1.
  ///   - deadline: The moment by which the call is to be done.
  ///   - timeLimit: How long the call may take in all, from its beginning.
  ///   - isIdempotent: Whether sending it twice has the effect of sending it once; `nil` for what the method says.
  ///   - isAuthenticated: Whether it is to be sent with the user's credential.
  ///   - identity: Who asks.
  ///   - cacheMode: What a cache may do for it.
  ///   - time: For whatever waits or measures on the way.
  public init(
    _ message: TransportRequest,
    operation: String = "Request",
    id: String = "",
    attempt: Int = 1,
    deadline: Deadline? = nil,
    timeLimit: Duration? = nil,
    isIdempotent: Bool? = nil,
    isAuthenticated: Bool = true,
    identity: String? = nil,
    cacheMode: CacheMode = .standard,
    time: TimeSource = .current
  ) {
    let parts = RequestParts(
      message,
      operation: operation,
      timeLimit: timeLimit,
      isIdempotent: isIdempotent,
      isAuthenticated: isAuthenticated,
      cacheMode: cacheMode
    )
    let call = CallContext(parts, id: id, identity: identity, time: time)
    var message = message
    if isIdempotent == false { message.isNotIdempotent = true }
    self.init(Parts(message: message, attempt: attempt, deadline: deadline, cacheMode: cacheMode, call: call))
  }

  init(_ message: TransportRequest, cacheMode: CacheMode, call: CallContext) {
    self.init(Parts(message: message, cacheMode: cacheMode, call: call))
  }

  private init(_ parts: Parts) {
    boxed = Boxed(parts)
  }

  /// The name of the request.
  public var operation: String { call.operation }
  /// What the client calls this call, the same for all attempts.
  public var id: String { call.id }
  /// How long the call may take in all, from its beginning.
  public var timeLimit: Duration? { call.timeLimit }
  /// Whether sending it twice has the effect of sending it once.
  public var isIdempotent: Bool { call.isIdempotent }
  /// Whether it is to be sent with the user's credential: never to another origin than the client's, unless that is one of
  /// ``WebAPIClient/trustedOrigins``.
  public var isAuthenticated: Bool { call.isAuthenticated }
  /// Who asks.
  ///
  /// What one has asked for is not given to another, neither from the cache nor by joining requests.
  public var identity: String? { call.identity }

  /// How many redirects this attempt has followed to get to the address of ``message``.
  public var redirects: Int { redirection?.count ?? 0 }
  /// Whether it goes to another scheme, host or port than that of the client: because it names that itself
  /// (``Request/baseURL``), and it is none of ``WebAPIClient/trustedOrigins``, or because a redirect has led to another one
  /// on the way, also if it has come back since.
  ///
  /// What was made for the client's service, such as a credential, is not for this one.
  public var hasLeftOrigin: Bool { redirection?.hasLeftOrigin ?? call.leavesOrigin }

  /// Whether a header field may be added where the request goes now: any may at the origin that it was made for, and
  /// elsewhere those that the client's ``RedirectPolicy`` carries.
  public func mayCarry(header name: String) -> Bool { !hasLeftOrigin || call.carries(name) }

  /// The client's time: for whatever waits or measures on the way.
  public var time: TimeSource { call.time }

  /// The host that it goes to, with its port: what fails together.
  public var host: String { message.address.authorityText }

  /// Tells those who watch the client; without any, the event is not even made.
  public func tell(_ event: @autoclosure () -> HTTPEvent.Kind) {
    call.tell(event())
  }

  /// The same request as a call of its own, which goes on when this one is over.
  var inAnotherCall: HTTPRequest {
    var copy = self
    copy.change { parts in
      let id = parts.call.id
      parts.call = parts.call.another
      parts.deadline = nil
      if parts.message.headers["X-Request-ID"] == id { parts.message.headers["X-Request-ID"] = parts.call.id }
    }
    return copy
  }

  /// The same request as another attempt.
  func attempt(_ number: Int) -> HTTPRequest {
    var copy = self
    if number != attempt { copy.attempt = number }
    return copy
  }

  // MARK: Failures

  /// The failure to put the body of an answer where it belongs.
  func failure(keeping response: HTTPResponse?, _ error: any Error, duration: Duration = .zero) -> NetworkFailure {
    switch error {
    case let cause as TransportFailure:
      failure(.transport(cause.kind), response: response, underlying: cause, duration: duration)
    case is ChecksumMismatch, is BodyChanged:
      failure(.mismatch, response: response, underlying: error, duration: duration)
    default:
      failure(.storage, response: response, underlying: error, duration: duration)
    }
  }

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
    // Whoever sends it again begins where it began.
    let message = redirection?.first ?? message
    var failure = NetworkFailure(
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
    // Also of another attempt: what was done then is not undone.
    if let chain = call.lastEffect ?? redirection?.redirectChain { failure.redirectChain = chain }
    return failure
  }

  /// Why it cannot be sent, if a header field is none; looked at once all middleware is through with it.
  var invalidField: NetworkFailure? {
    guard let field = message.headers.first(where: { !$0.isValid }) else { return nil }
    let invalid = InvalidRequest(operation: operation, reason: .header(field.name))
    return failure(.invalidRequest, underlying: invalid)
  }

  /// Why an answer is none that was asked for; `nil` if it is.
  func rejection(of response: HTTPResponse) -> NetworkFailure? {
    guard call.accepts(response) || (takesNotModified && response.status == 304) else {
      var failure = failure(.init(status: response.status), response: response)
      failure.server = call.errorParser.parse(response)
      return failure
    }
    if !call.takesWebPages, response.isWebPage { return failure(.captivePortal, response: response) }
    guard let validator = call.validator, response.status != 304 else { return nil }
    do {
      guard let kind = try validator.judge(response) else { return nil }
      var failure = failure(kind, response: response)
      failure.server = call.errorParser.parse(response)
      return failure
    } catch {
      return failure(parsing: response, error)
    }
  }

  /// Whether a page for a browser comes where none is wanted, as far as its head says.
  func isPageInPlace(of response: HTTPResponse) -> Bool {
    !call.takesWebPages && ["text/html", "application/xhtml+xml"].contains(response.mediaType)
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
