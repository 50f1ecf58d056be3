import Expectations
import ReboundHTTP
import Testing

@Suite("NetworkFailure+outcome")
struct NetworkFailureOutcomeTests {
  @Test(
    "an outcome is the status, or else the kind in one word",
    arguments: [
      (.transport(.timeout(.connect)), nil, "timeout"), (.transport(.timeout(.idle)), nil, "timeout"),
      (.transport(.tls(.expired)), nil, "tls"), (.transport(.proxy(.refused(403))), nil, "proxy"),
      (.transport(.tooManyRedirects), nil, "too_many_redirects"), (.deadlineExceeded, nil, "deadline"),
      (.circuitOpen, nil, "circuit_open"), (.invalidRequest, nil, "invalid_request"), (.cancelled, nil, "cancelled"),
      (.notFound, 404, "404"), (.serverError(503), 503, "503"), (.decoding, 200, "200"), (.decoding, nil, "decoding"),
      (.clientError(418), nil, "status"),
    ] as [(NetworkFailure.Kind, Int?, String)]
  )
  func outcomes(kind: NetworkFailure.Kind, status: Int?, outcome: String) {
    let head = status.map { ResponseHead(status: $0, url: .service) }
    expectEqual(NetworkFailure(kind, head: head).outcome, outcome)
  }
}
