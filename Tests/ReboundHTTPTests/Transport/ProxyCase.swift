import ReboundHTTP
import ReboundHTTPTesting
import Testing

/// What a proxy may do, and what it is called.
struct ProxyCase: Sendable, CustomTestStringConvertible {
  let name: String
  /// `nil` if nobody listens there.
  let behaviour: ForwardProxy.Behaviour?
  /// For an `http` address, which the proxy asks for itself, and for an `https` address, which is behind a tunnel.
  let http: FaultCase.Verdict
  let https: FaultCase.Verdict

  var testDescription: String { name }

  static let all: [ProxyCase] = [
    ProxyCase("passes on", .forward, .answer(200), .answer(200)),
    ProxyCase("takes no connection", nil, .failure(.proxy(.unreachable)), .failure(.proxy(.unreachable))),
    ProxyCase("wants credentials", .demand("a:b"), .failure(.proxy(.credentials)), .failure(.proxy(.credentials))),
    ProxyCase("answers 403", .refuse(403), .answer(403), .failure(.proxy(.refused(403)))),
    ProxyCase("answers 502", .refuse(502), .answer(502), .failure(.proxy(.refused(502)))),
    ProxyCase("closes the connection", .close, .failure(.reset), .failure(.proxy(.broken))),
    ProxyCase("does not speak HTTP", .babble, .failure(.protocol), .failure(.proxy(.broken))),
  ]

  private init(
    _ name: String,
    _ behaviour: ForwardProxy.Behaviour?,
    _ http: FaultCase.Verdict,
    _ https: FaultCase.Verdict
  ) {
    (self.name, self.behaviour, self.http, self.https) = (name, behaviour, http, https)
  }
}
