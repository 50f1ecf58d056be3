import Expectations
import Foundation
import Rebound
import ReboundHTTP
import Testing

@Suite("NetworkFailure")
struct NetworkFailureTests {
  static func failure(status: Int, retryAfter: Duration? = nil, message: String? = nil) -> NetworkFailure {
    NetworkFailure(
      .init(status: status),
      head: ResponseHead(status: status, url: .service),
      server: message.map { ServerMessage(text: $0) },
      retryAfter: retryAfter
    )
  }

  @Test(
    "these statuses are transient, and others are not",
    arguments: [
      (200, false), (301, false), (304, false), (400, false), (401, false), (403, false), (404, false), (406, false),
      (408, true), (409, false), (410, false), (413, false), (418, false), (422, false), (425, true), (429, true),
      (451, false), (500, true), (501, false), (502, true), (503, true), (504, true), (505, false), (507, false),
      (511, false), (599, false),
    ]
  )
  func transientStatuses(status: Int, isTransient: Bool) {
    expectEqual(Self.failure(status: status).isTransient, isTransient)
  }

  @Test("a failure is a value: what is changed in a copy stays out of the original, and all else stays as it was")
  func value() {
    let original = Self.failure(status: 503, retryAfter: .seconds(1), message: "down")
    var copy = original
    copy.kind = .other
    copy.call.attempt = 3
    copy.head = nil
    copy.body = Data([1])
    copy.server = nil
    copy.retryAfter = nil
    copy.earlier = [original]
    copy.notRetriedBecause = .attemptsExhausted
    copy.underlying = CancellationError()
    #expect(original.kind == .serverError(503) && original.call.attempt == 1 && original.status == 503)
    #expect(original.body.isEmpty && original.serverMessage == "down" && original.retryAfter == .seconds(1))
    #expect(original.earlier.isEmpty && original.notRetriedBecause == nil && original.underlying == nil)
    #expect(copy.kind == .other && copy.call.attempt == 3 && copy.status == nil && copy.body == Data([1]))
    #expect(copy.server == nil && copy.retryAfter == nil && copy.earlier.count == 1)
    #expect(copy.notRetriedBecause == .attemptsExhausted && copy.underlying is CancellationError)
  }

  @Test("a 413 is transient once the server says when to come back")
  func payloadTooLarge() {
    #expect(Self.failure(status: 413, retryAfter: .seconds(5)).isTransient)
  }

  @Test(
    "what the network did is transient, and proves that nothing was sent, as this table says",
    arguments: [
      (.offline, true, true), (.dns, true, true), (.connect, true, true), (.tls(.handshake), true, true),
      (.tls(.untrusted), false, true), (.tls(.expired), false, true), (.tls(.notYetValid), false, true),
      (.tls(.wrongHost), false, true), (.tls(.notPinned), false, true), (.tls(.other), false, false),
      (.timeout(.connect), true, true),
      (.proxy(.unreachable), true, true), (.proxy(.broken), true, true), (.proxy(.credentials), false, true),
      (.proxy(.refused(502)), true, true), (.proxy(.refused(403)), false, true),
      (.timeout(.idle), true, false), (.timeout(.total), true, false), (.reset, true, false),
      (.truncated, true, false), (.protocol, true, false), (.cancelled, false, false),
      (.tooManyRedirects, false, false), (.tooLarge, false, false), (.body, false, false), (.other, false, false),
    ] as [(TransportFailure.Kind, Bool, Bool)]
  )
  func transportTable(kind: TransportFailure.Kind, isTransient: Bool, provesNothingWasSent: Bool) {
    let transport = TransportFailure(kind)
    let failure = NetworkFailure(.transport(kind), underlying: transport)
    expectEqual(failure.isTransient, isTransient)
    expectEqual(transport.provesNothingWasSent, provesNothingWasSent)
    expectEqual(Self.isRetryable(failure, .get), isTransient)
    expectEqual(Self.isRetryable(failure, .post), isTransient && provesNothingWasSent)
  }

  @Test("what the transport knows of the sending counts for more than the kind")
  func knowledgeOfSending() {
    #expect(TransportFailure(.reset, isUnsent: true).provesNothingWasSent)
    #expect(TransportFailure(.tls(.other), isUnsent: true).provesNothingWasSent)
    #expect(!TransportFailure(.tls(.clientCertificate), isUnsent: false).provesNothingWasSent)
    #expect(!TransportFailure(.reset, isUnsent: true, redirects: 1).provesNothingWasSent)
  }

  @Test("what a server says it has not looked at may be sent again, whatever was sent of it, but not behind a redirect")
  func unprocessed() {
    let refused = TransportFailure(.reset, bytesSent: 5, isUnsent: false, isUnprocessed: true)
    #expect(!refused.provesNothingWasSent)
    #expect(refused.provesNothingWasDone)
    #expect(Self.isRetryable(NetworkFailure(.transport(.reset), underlying: refused), .post))
    #expect(!TransportFailure(.reset, isUnprocessed: true, redirects: 1).provesNothingWasDone)
    #expect(!TransportFailure(.truncated, isUnprocessed: true, bytesReceived: 1).provesNothingWasDone)
    #expect(!TransportFailure(.reset, isUnsent: false).provesNothingWasDone)
    #expect(TransportFailure(.connect).provesNothingWasDone)
  }

  @Test("once anything was sent or received, no failure proves that nothing was")
  func progressDisproves() {
    #expect(!TransportFailure(.offline, bytesSent: 1).provesNothingWasSent)
    #expect(!TransportFailure(.connect, bytesReceived: 1).provesNothingWasSent)
    #expect(!TransportFailure(.dns, redirects: 1).provesNothingWasSent)
  }

  @Test("no failure proves that nothing was done once an attempt before may have done it")
  func earlierDisproves() {
    let offline = NetworkFailure(.transport(.offline), underlying: TransportFailure(.offline))
    var failure = offline
    failure.earlier = [Self.failure(status: 425), offline]
    #expect(failure.provesNothingWasDone)
    #expect(Self.isRetryable(failure, .post))
    failure.earlier = [Self.failure(status: 503), offline]
    #expect(!failure.provesNothingWasDone)
    #expect(!Self.isRetryable(failure, .post))
    #expect(Self.isRetryable(failure, .get))
  }

  @Test("a request that is not idempotent is not sent again after a 503 or 429, but after a 425")
  func idempotencyGate() {
    for status in [429, 500, 503] {
      #expect(Self.isRetryable(Self.failure(status: status), .get))
      #expect(!Self.isRetryable(Self.failure(status: status), .post))
      #expect(!Self.isRetryable(Self.failure(status: status), .patch))
      #expect(Self.isRetryable(Self.failure(status: status), .post, isIdempotent: true))
      #expect(!Self.isRetryable(Self.failure(status: status), .get, isReplayable: false))
    }
    #expect(Self.isRetryable(Self.failure(status: 425), .post))
    #expect(!Self.isRetryable(Self.failure(status: 404), .get))
    #expect(Self.failure(status: 404).mayBeRepeated)
  }

  static func isRetryable(
    _ failure: NetworkFailure,
    _ method: HTTPMethod,
    isIdempotent: Bool? = nil,
    isReplayable: Bool = true
  ) -> Bool {
    var failure = failure
    failure.call = .init(method: method, isIdempotent: isIdempotent, isReplayable: isReplayable)
    return failure.isRetryable
  }

  @Test("each status has a kind of its own; 403, 409, 422 and 429 are told apart")
  func kinds() {
    let kinds: [Int: NetworkFailure.Kind] = [
      400: .badRequest, 401: .unauthorised, 403: .forbidden, 404: .notFound, 406: .notAcceptable, 409: .conflict,
      410: .gone, 422: .unprocessable, 429: .tooManyRequests, 418: .clientError(418), 500: .serverError(500),
      503: .serverError(503), 302: .unexpectedStatus(302), 511: .captivePortal,
    ]
    for (status, kind) in kinds { expectEqual(NetworkFailure.Kind(status: status), kind) }
  }

  @Test("every kind has a text for people, and all but a cancel say what to do")
  func texts() {
    let kinds: [NetworkFailure.Kind] = [
      .captivePortal, .noData, .decoding, .unexpectedContentType, .badRequest, .unauthorised, .forbidden, .notFound,
      .notAcceptable, .conflict, .gone, .unprocessable, .tooManyRequests, .clientError(418), .serverError(500),
      .unexpectedStatus(302), .redirectRefused, .invalidRequest, .circuitOpen, .busy, .rateLimited,
      .deadlineExceeded, .notCached, .storage, .mismatch, .other,
      .transport(.offline), .transport(.dns), .transport(.connect), .transport(.tls(.untrusted)),
      .transport(.tls(.notPinned)), .transport(.proxy(.unreachable)), .transport(.proxy(.broken)),
      .transport(.proxy(.credentials)), .transport(.proxy(.refused(403))),
      .transport(.timeout(.idle)), .transport(.reset), .transport(.truncated), .transport(.protocol),
      .transport(.tooManyRedirects), .transport(.tooLarge), .transport(.body), .transport(.other),
    ]
    for kind in kinds {
      let failure = NetworkFailure(kind, call: .init(url: "https://api.example/v1"))
      expectEqual(failure.errorDescription?.isEmpty, false)
      expectEqual(failure.recoverySuggestion?.isEmpty, false, "\(kind) does not say what to do")
      for text in [failure.errorDescription, failure.failureReason, failure.recoverySuggestion] {
        #expect(text?.contains("{") != true, "\(kind): \(text ?? "")")
      }
    }
    expectEqual(NetworkFailure(.cancelled).errorDescription, "It was cancelled.")
  }

  @Test("the texts name the host")
  func textsNameTheHost() {
    let failure = NetworkFailure(.transport(.connect), call: .init(url: "https://api.example/v1?token=…"))
    expectEqual(failure.errorDescription, "api.example cannot be reached.")
    expectEqual(NetworkFailure(.transport(.connect)).errorDescription, "The service cannot be reached.")
    expectEqual(NetworkFailure(.noData).errorDescription, "The answer of the service is empty.")
  }

  @Test("a captive portal and a changed service get different advice")
  func captivePortalAdvice() {
    expectEqual(NetworkFailure(.captivePortal).recoverySuggestion?.contains("sign in to the network"), true)
    expectEqual(NetworkFailure(.decoding).recoverySuggestion, "Please update the app.")
  }

  @Test("the server's own words come first")
  func serverMessage() {
    expectEqual(Self.failure(status: 400, message: "Username is too short.").errorDescription, "Username is too short.")
    expectEqual(Self.failure(status: 500).errorDescription, "Server error.")
    expectEqual(
      Self.failure(status: 500, message: "The database is corrupted").errorDescription,
      "The database is corrupted"
    )
  }

  @Test(
    "when to try again is said in whole units, rounded up",
    arguments: [
      (Duration.milliseconds(100), "1 second"), (.seconds(1), "1 second"), (.seconds(17), "17 seconds"),
      (.seconds(90), "90 seconds"), (.seconds(91), "2 minutes"), (.seconds(3_600), "60 minutes"),
      (.seconds(5_401), "2 hours"), (.seconds(86_400), "24 hours"), (.seconds(172_801), "3 days"),
      (.seconds(30 * 86_400), "30 days"),
    ]
  )
  func waits(pause: Duration, text: String) {
    expectEqual(Self.failure(status: 503, retryAfter: pause).recoverySuggestion, "Try again in \(text).")
  }

  @Test("nobody is told to come back after months or longer", arguments: [30 * 86_400 + 1, 1_000_000_000])
  func endlessWait(seconds: Int) {
    expectEqual(Self.failure(status: 503, retryAfter: .seconds(seconds)).recoverySuggestion, "Try again later.")
  }

  @Test("a pause of any length can be said", arguments: [(Int64.max, "11575 days"), (.min, "1 second")])
  func anyWait(seconds: Int64, text: String) {
    expectEqual(NetworkFailure.Texts.englishWait(.seconds(seconds)), text)
  }

  @Test("the line for a log has all that is needed to find the call, and no secret")
  func logLine() {
    var failure = Self.failure(status: 503, retryAfter: .seconds(2), message: "down")
    failure.call = .init(
      operation: "Forecast",
      method: .get,
      url: "https://api.example/v1?appid=…",
      requestID: "7f3a",
      attempt: 2,
      duration: .milliseconds(300)
    )
    #expect(
      "\(failure)" == """
        Forecast: GET https://api.example/v1?appid=… failed: 503, 'down'; retry after 2.0 seconds (attempt 2, \
        0.3 seconds, request 7f3a)
        """
    )
  }

  @Test("no more of a body is kept than the limit")
  func bodyLimit() {
    let failure = NetworkFailure(.serverError(500), body: Data(count: NetworkFailure.bodyLimit + 1))
    expectEqual(failure.body.count, NetworkFailure.bodyLimit)
  }
}

/// Replaces what the whole process reads, so it looks at a text that no other test looks at.
@Suite("NetworkFailure.Texts")
struct NetworkFailureTextsTests {
  @Test("texts can be replaced, one by one, and placeholders are filled")
  func replace() {
    let english = NetworkFailure.Texts.current
    NetworkFailure.Texts.current = NetworkFailure.Texts { key, english in
      key == .gone ? .init(description: "{host} hat das nicht mehr ({status}).") : english
    }
    defer { NetworkFailure.Texts.current = english }
    let failure = NetworkFailure(.gone, head: ResponseHead(status: 410, url: .service))
    expectEqual(failure.errorDescription, "api.example hat das nicht mehr (410).")
    #expect(failure.recoverySuggestion == nil)
  }
}
