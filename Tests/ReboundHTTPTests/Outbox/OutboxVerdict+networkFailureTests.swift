import Expectations
import Rebound
import ReboundHTTP
import ReboundOutbox
import Testing

@Suite("OutboxVerdict of a failure")
struct OutboxVerdictOfAFailureTests {
  private enum Expected { case unreachable, tryLater, refused }

  private func expect(_ kinds: [NetworkFailure.Kind], _ expected: Expected) {
    for kind in kinds {
      var failure = NetworkFailure(kind, retryAfter: .seconds(7))
      if case .transport(let kind) = kind { failure.underlying = TransportFailure(kind) }
      switch (OutboxVerdict(failure), expected) {
      case (.unreachable, .unreachable), (.refused, .refused): break
      case (.tryLater(_, let pause), .tryLater): expectEqual(pause, .seconds(7), "\(kind)")
      case (let verdict, _): Issue.record("\(kind) is \(verdict), not \(expected)")
      }
    }
  }

  @Test("what cannot have reached the service does not count")
  func unreachable() {
    expect(
      [
        .transport(.offline), .transport(.dns), .transport(.connect), .transport(.tls(.untrusted)),
        .transport(.timeout(.connect)), .captivePortal,
        .circuitOpen, .busy, .rateLimited,
      ],
      .unreachable
    )
  }

  @Test("what fails for the moment is tried later, after the pause that is asked for")
  func tryLater() {
    expect(
      [
        .clientError(408), .clientError(425), .tooManyRequests, .serverError(500), .serverError(502), .serverError(503),
        .serverError(504), .transport(.timeout(.idle)), .transport(.reset), .transport(.truncated),
        .transport(.cancelled), .deadlineExceeded,
      ],
      .tryLater
    )
  }

  @Test("what a service has refused to look at has reached it, and is tried later")
  func unprocessed() {
    let refusal = TransportFailure(.reset, isUnsent: false, isUnprocessed: true)
    if case .tryLater = OutboxVerdict(NetworkFailure(.transport(.reset), underlying: refusal)) {
    } else {
      Issue.record("it is not tried later")
    }
  }

  @Test("what no repetition helps is refused")
  func refused() {
    expect(
      [
        .badRequest, .unauthorised, .forbidden, .notFound, .conflict, .gone, .unprocessable, .clientError(418),
        .serverError(501), .invalidRequest, .transport(.tooManyRedirects), .unexpectedStatus(304), .redirectRefused,
        .other,
      ],
      .refused
    )
  }

  @Test("what is wrong with the request itself is refused, although nothing was sent")
  func unsendable() {
    let failure = TransportFailure(.body, isUnsent: true)
    if case .refused = OutboxVerdict(NetworkFailure(.transport(.body), underlying: failure)) {
    } else {
      Issue.record("it is sent again")
    }
  }

  @Test("what nobody has a name for is tried later as long as nothing was sent", arguments: [true, false])
  func nameless(isUnsent: Bool) {
    let failure = TransportFailure(.other, isUnsent: isUnsent)
    switch OutboxVerdict(NetworkFailure(.transport(.other), underlying: failure)) {
    case .tryLater where isUnsent, .refused where !isUnsent: break
    case let verdict: Issue.record("it is \(verdict)")
    }
  }

  @Test("a credential that could not be renewed for the moment is worth to wait for, a session that is over is not")
  func credential() {
    let moment = TokenRefreshFailure(reason: .tooManyRefreshes, retryAfter: .seconds(7))
    let over = TokenRefreshFailure(reason: .rejected)
    for kind in [NetworkFailure.Kind.other, .unauthorised] {
      if case .tryLater(_, after: .seconds(7)) = OutboxVerdict(
        NetworkFailure(kind, retryAfter: .seconds(7), underlying: moment)
      ) {
      } else {
        Issue.record("it is not worth to wait for")
      }
    }
    if case .refused = OutboxVerdict(NetworkFailure(.unauthorised, underlying: over)) {
    } else {
      Issue.record("a session that is over is waited for")
    }
  }
}
