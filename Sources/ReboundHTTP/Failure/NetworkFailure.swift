import Foundation
import Rebound

/// Why a call to a service has failed: every failure has a name, and says what happened, where, and what to do next.
///
///     switch failure.kind {
///     case .transport(.offline): banner("You are offline")
///     case .notFound: empty()
///     default: alert(failure.errorDescription, failure.recoverySuggestion)
///     }
///
/// As a `LocalizedError` it has texts for people; they are all in ``Texts-swift.struct``, in one place.
public struct NetworkFailure: Error, Sendable {
  /// What happened.
  ///
  /// Later versions may add kinds.
  public enum Kind: Hashable, Sendable {
    /// There was no answer, or not all of it. See ``NetworkFailure/transport``.
    case transport(TransportFailure.Kind)
    /// A page for a browser came in place of an answer: most likely, the network wants the user to sign in first.
    case captivePortal
    /// The status means success, but there is nothing to make a response of.
    case noData
    /// The answer has another form than this program expects. See ``NetworkFailure/decoding``.
    case decoding
    /// The answer is of another media type than this program expects.
    case unexpectedContentType
    /// 400: the service refuses the input.
    case badRequest
    /// 401: the service does not know who asks.
    case unauthorised
    /// 403: the service knows who asks, and refuses.
    case forbidden
    /// 404: there is no such thing.
    case notFound
    /// 406: the service cannot answer in a form that this program understands.
    case notAcceptable
    /// 409: it is not in a state that allows this.
    case conflict
    /// 410: there is no such thing any more.
    case gone
    /// 422: the service understands the input, and refuses it.
    case unprocessable
    /// 429: too many requests.
    case tooManyRequests
    /// Any other status from 400 to 499.
    case clientError(Int)
    /// A status from 500 to 599.
    case serverError(Int)
    /// A status that is no error, but not valid for this request, such as that of a redirect.
    case unexpectedStatus(Int)
    /// A redirect would take the request's body to another origin, and ``RedirectPolicy/carryingBodies()`` does not allow
    /// it. ``NetworkFailure/underlying`` is a ``RedirectRefused``.
    case redirectRefused
    /// The request makes no sense, and was not sent. See ``NetworkFailure/invalidRequest``.
    case invalidRequest
    /// The service fails, so a circuit breaker, or another policy that spares it, let nothing through.
    case circuitOpen
    /// Too many calls run at the same time, so a limit of this program let it not begin.
    case busy
    /// Too many calls have begun in a short time, so a limit of this program let it not begin.
    case rateLimited
    /// The time for all attempts together is over.
    case deadlineExceeded
    /// Only a copy was asked for, and there is none.
    case notCached
    /// What came could not be written to where it was to go; see ``NetworkFailure/underlying``.
    case storage
    /// What came is not what was meant: it has another checksum, or is another body than the one it began as.
    case mismatch
    /// It was cancelled. Publishers never say so, asynchronous functions do.
    case cancelled
    /// Anything else; see ``NetworkFailure/underlying``.
    case other

    /// The kind of failure that a status stands for, if it is not valid.
    public init(status: Int) {
      switch status {
      case 400: self = .badRequest
      case 401: self = .unauthorised
      case 403: self = .forbidden
      case 404: self = .notFound
      case 406: self = .notAcceptable
      case 409: self = .conflict
      case 410: self = .gone
      case 422: self = .unprocessable
      case 429: self = .tooManyRequests
      case 511: self = .captivePortal
      case 400...499: self = .clientError(status)
      case 500...599: self = .serverError(status)
      default: self = .unexpectedStatus(status)
      }
    }
  }

  /// What happened.
  public var kind: Kind {
    get { facts.kind }
    set { change { $0.kind = newValue } }
  }
  /// The call that has failed.
  public var call: Call {
    get { facts.call }
    set { change { $0.call = newValue } }
  }
  /// The status and header fields of the answer, if there was one.
  public var head: ResponseHead? {
    get { facts.head }
    set { change { $0.head = newValue } }
  }
  /// The beginning of the answer's body, at most ``bodyLimit`` bytes; for the program, since it may hold secrets.
  public var body: Data {
    get { facts.body }
    set { change { $0.body = newValue } }
  }
  /// What the server says about the error.
  public var server: ServerMessage? {
    get { facts.server }
    set { change { $0.server = newValue } }
  }
  /// The pause that the server, or whatever has refused the call, asks for.
  public var retryAfter: Duration? {
    get { facts.retryAfter }
    set { change { $0.retryAfter = newValue } }
  }
  /// The failures of the attempts before, the oldest first.
  public var earlier: [NetworkFailure] {
    get { facts.earlier }
    set { change { $0.earlier = newValue } }
  }
  /// Why ``Retrying`` did not try again; `nil` if it had no say in it.
  public var notRetriedBecause: RetryEvent.Reason? {
    get { facts.notRetriedBecause }
    set { change { $0.notRetriedBecause = newValue } }
  }
  /// What it was caused by.
  public var underlying: (any Error)? {
    get { facts.underlying }
    set { change { $0.underlying = newValue } }
  }
  /// Whether it is not the call that has failed so, but the renewal of its credential.
  var isOfRefresh: Bool {
    get { facts.isOfRefresh }
    set { change { $0.isOfRefresh = newValue } }
  }
  /// What redirects have to do with it; `nil` if it has come before any.
  var redirectChain: RedirectChain? {
    get { facts.redirectChain ?? head?.redirectChain }
    set { change { $0.redirectChain = newValue } }
  }

  // One word in place of half a kilobyte, which each stage of each stream would else have to move, failure or not.
  private var boxed: Boxed<Facts>
  private var facts: Facts { boxed.value }

  private struct Facts: Sendable {
    var kind: Kind
    var call: Call
    var head: ResponseHead?
    var body: Data
    var server: ServerMessage?
    var retryAfter: Duration?
    var earlier: [NetworkFailure] = []
    var notRetriedBecause: RetryEvent.Reason?
    var underlying: (any Error)?
    /// Where there is no head that says it.
    var redirectChain: RedirectChain?
    var isOfRefresh = false
  }

  private mutating func change(_ change: (inout Facts) -> Void) { change(&boxed.value) }

  /// How much of a body is kept.
  public static let bodyLimit = 16_384

  /// Describes a failure.
  ///
  /// - Parameters:
  ///   - kind: What happened.
  ///   - call: The call that has failed.
  ///   - head: The status and header fields of the answer.
  ///   - body: The answer's body.
  ///   - server: What the server says.
  ///   - retryAfter: The pause that is asked for.
  ///   - underlying: What it was caused by.
  public init(
    _ kind: Kind,
    call: Call = Call(),
    head: ResponseHead? = nil,
    body: Data = Data(),
    server: ServerMessage? = nil,
    retryAfter: Duration? = nil,
    underlying: (any Error)? = nil
  ) {
    boxed = Boxed(
      Facts(
        kind: kind,
        call: call,
        head: head,
        body: Data(body.prefix(NetworkFailure.bodyLimit)),
        server: server,
        retryAfter: retryAfter,
        underlying: underlying
      )
    )
  }

  /// The call that has failed, as it may be shown: secrets are left out.
  public struct Call: Hashable, Sendable {
    /// The name of the request.
    public var operation: String
    /// What was asked for.
    public var method: HTTPMethod
    /// Where, without secrets; empty if it never came to an address.
    public var url: String
    /// What the client and, if it says so, the server call this request, to find it in their logs.
    public var requestID: String?
    /// The number of the attempt, from 1.
    public var attempt: Int
    /// How long the attempt took.
    public var duration: Duration
    /// Whether sending it twice has the effect of sending it once.
    public var isIdempotent: Bool
    /// Whether there still is something to send: a stream that can be read once is gone.
    public var isReplayable: Bool

    /// Describes a call.
    ///
    /// - Parameters:
    ///   - operation: The name of the request.
    ///   - method: What was asked for.
    ///   - url: Where, without secrets.
    ///   - requestID: What the client or server calls this request.
    ///   - attempt: The number of the attempt.
    ///   - duration: How long the attempt took.
    ///   - isIdempotent: Whether sending it twice has the effect of sending it once; by default, as the method has it.
    ///   - isReplayable: Whether there still is something to send.
    public init(
      operation: String = "",
      method: HTTPMethod = .get,
      url: String = "",
      requestID: String? = nil,
      attempt: Int = 1,
      duration: Duration = .zero,
      isIdempotent: Bool? = nil,
      isReplayable: Bool = true
    ) {
      self.operation = operation
      self.method = method
      self.url = url
      self.requestID = requestID
      self.attempt = attempt
      self.duration = duration
      self.isIdempotent = isIdempotent ?? method.isIdempotent
      self.isReplayable = isReplayable
    }
  }
}

// MARK: - What it was

extension NetworkFailure {
  /// The status of the answer; `nil` if there was none.
  public var status: Int? { head?.status }
  /// What the server says about it, in its own words: one line of plain text, of at most 500 characters.
  ///
  /// Tags, controls and whatever else could make more of it than words are left out; ``server`` has it as it came.
  public var serverMessage: String? { server?.text?.plainLine(limit: 500).nonEmpty }
  /// What the server says about it, in the common form.
  public var problem: ProblemDetails? { server?.problem }
  /// What the network did.
  public var transport: TransportFailure? { underlying as? TransportFailure }
  /// Where and why the answer could not be decoded.
  public var decoding: DecodingFailure? { (underlying as? UndecodableAnswer)?.failure }
  /// What is wrong with the request.
  public var invalidRequest: InvalidRequest? { underlying as? InvalidRequest }

  /// The error in the terms of the program, as the request's ``ErrorParser`` made it, if it is of that type.
  public func domainError<Domain: Error>(_ type: Domain.Type = Domain.self) -> Domain? {
    server?.error as? Domain
  }

  /// Whether it looks as if the user were offline, rather than the service in trouble.
  public var isOfflineLike: Bool {
    switch kind {
    case .transport(.offline), .transport(.dns), .captivePortal: true
    default: false
    }
  }
}

/// What the parser threw, with what is known about it.
struct UndecodableAnswer: Error, CustomStringConvertible {
  let failure: DecodingFailure
  let error: any Error

  var description: String { failure.description }
}

// MARK: - Whether to try again

extension NetworkFailure: RetryAfterProviding {
  /// Whether a limit or a breaker of this program has refused the call, or there is no credential for it.
  public var isRefusal: Bool {
    switch kind {
    case .circuitOpen, .busy, .rateLimited: true
    default: lacksCredential
    }
  }

  /// Whether there was no credential to send the request with, or none that is not refused.
  private var lacksCredential: Bool { isOfRefresh || underlying is TokenRefreshFailure }

  /// Whether the same request may well succeed a little later.
  ///
  /// The statuses 408, 429, 500, 502, 503 and 504 are; 413 is if the server says when to come back; 425 is, since the
  /// server has not looked at the request (RFC 8470). What the network did is if ``TransportFailure/isTransient``. An
  /// answer that cannot be decoded is not, and neither is what a circuit breaker refuses. What a limit of this program
  /// refuses is.
  public var isTransient: Bool {
    switch kind {
    case .transport(let kind): return TransportFailure(kind).isTransient
    case .tooManyRequests, .busy, .rateLimited, .serverError(500), .serverError(502), .serverError(503),
      .serverError(504):
      return true
    case .clientError(408), .clientError(425): return true
    case .clientError(413): return retryAfter != nil
    default: return false
    }
  }

  /// How many retries are worth while; `nil` leaves it to the policy.
  ///
  /// A handshake that fails twice, and a server that twice finds it too early, mean it.
  var retryLimit: Int? {
    switch kind {
    case .transport(.tls), .clientError(425): 1
    default: nil
    }
  }

  /// Whether the server cannot have acted on the request, in this attempt or one of ``earlier``, so that even one that is not
  /// idempotent may be sent again.
  public var provesNothingWasDone: Bool {
    // Whatever has failed behind such a redirect says nothing of the first server.
    if hasServerActed || !earlier.allSatisfy(\.provesNothingWasDone) { return false }
    // What has failed then is another request, for a credential.
    if lacksCredential { return true }
    switch kind {
    case .transport: return transport?.provesNothingWasDone ?? false
    case .clientError(425), .invalidRequest, .circuitOpen, .busy, .rateLimited: return true
    default: return false
    }
  }

  /// Whether a server has done what it was asked for before this happened, and has led on to what came of it.
  var hasServerActed: Bool { redirectChain?.hasServerActed ?? false }

  /// Whether the call may be sent again: there still is something to send, and it is idempotent, or no server can have
  /// acted on it.
  public var mayBeRepeated: Bool { call.isReplayable && isHarmlessTwice }

  private var isHarmlessTwice: Bool { call.isIdempotent || provesNothingWasDone }

  /// Whether it could be sent again with success, if there only were something to send.
  var lacksOnlyBody: Bool { isTransient && isHarmlessTwice && !call.isReplayable }

  /// Whether the call may be sent again, and may well succeed then: the condition for a retry.
  ///
  ///     client.publisher(for: request).retry(.standard.when(\.isRetryable))
  ///
  /// One that is not idempotent may only if no server can have acted on it. A 429 does not prove that: a proxy may
  /// have answered after the service has acted.
  public var isRetryable: Bool {
    isTransient && mayBeRepeated
  }
}

// MARK: - Texts

extension NetworkFailure: CustomStringConvertible {
  /// One line for a log: "Forecast: GET https://api.example/weather?q=Rome failed: 503, 'down for maintenance'; retry
  /// after 2.0 seconds (attempt 2, 0.3 seconds, request 7f3a)".
  public var description: String {
    var text = call.operation.isEmpty ? "" : "\(call.operation): "
    if !call.url.isEmpty { text += "\(call.method) \(call.url) " }
    // What it was caused by may quote the answer.
    text += "failed: \(cause.plainLine(limit: 500))"
    if let message = serverMessage { text += ", '\(message)'" }
    if let retryAfter { text += "; retry after \(retryAfter)" }
    if let reason = notRetriedBecause, !reason.isEvident { text += "; not tried again: \(reason)" }
    let id = call.requestID.map { ", request \($0.plainLine(limit: 100))" } ?? ""
    return text + " (attempt \(call.attempt), \(call.duration)\(id))"
  }

  private var cause: String {
    if let status, kind == Kind(status: status) { return "\(status)" }
    switch kind {
    case .transport(let kind): return transport.map { "\($0)" } ?? "\(kind)"
    default:
      let status = status.map { " with status \($0)" } ?? ""
      return "\(kind)\(status)" + (underlying.map { " (\($0))" } ?? "")
    }
  }
}

extension NetworkFailure: LocalizedError {
  /// What happened, for people: the server's own words where it has any, else those of ``Texts-swift.struct``.
  public var errorDescription: String? {
    if status != nil, let message = serverMessage { return message }
    return text.description
  }

  /// Why it happened, for people.
  public var failureReason: String? { text.reason }

  /// What to do about it, for people; when to try again, if the server has said so and that is what helps.
  public var recoverySuggestion: String? {
    // Nobody waits for months: whoever asks for that has made a mistake.
    guard let retryAfter, retryAfter <= .seconds(30 * 86_400), kind != .unauthorised else { return text.suggestion }
    let texts = Texts.current
    return texts.text(for: .retryAfter, of: self).description
      .replacingOccurrences(of: "{wait}", with: texts.wait(retryAfter))
  }

  private var text: Texts.Text { Texts.current.text(for: Texts.Key(kind), of: self) }
}

extension String {
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

extension RetryEvent.Reason {
  /// Whether the failure and the number of its attempt say as much.
  fileprivate var isEvident: Bool { [.notRetryable, .decided, .attemptsExhausted].contains(self) }
}
