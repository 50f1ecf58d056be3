import Foundation
import ReboundHTTP

/// What is sent, what comes back, and over which connection.
extension ContractPromise {
  static let ofRequests: [ContractPromise] =
    [
      ContractPromise("sends method, fields and body, and tells head and body") { run in
        run.server.program("/a%2Fb", .answer("hello", fields: ["X-Answer: 42"]))
        let request = TransportRequest(
          run.server.url("/a%2Fb?q=%C3%BC%20&q=+"),
          method: .patch,
          headers: ["X-Question": "6x9", "Content-Type": "text/plain"],
          body: .data(Data("what?".utf8)),
          limits: .none
        )
        await run.send(request)
        let received = try run.received()
        try run.expect("the method", received.method, "PATCH")
        try run.expect("the target", received.target, "/a%2Fb?q=%C3%BC%20&q=+")
        try run.expect("X-Question", received[field: "x-question"], "6x9")
        try run.expect("Content-Type", received[field: "Content-Type"], "text/plain")
        try run.expect("Content-Length", received[field: "Content-Length"], "5")
        try run.expect("the body that was sent", received.body, Array("what?".utf8))
        try run.expect("X-Answer", run.log.heads.first?.headers["x-answer"], "42")
        try run.expect("the address of the head", run.log.heads.first?.url, request.url)
        try run.expect("the body that came", run.log.body, Data("hello".utf8))
        try run.expect("the last progress of the upload", run.log.sent.last, 5)
      },
      // What is behind a length that is too short is the next request to a server (RFC 9112 §6.3).
      ContractPromise("says itself where a body ends, whatever the header fields say") { run in
        run.server.program("/", .answer())
        let transport = run.transport()
        for (name, value) in [("content-length", "3"), ("Content-Length", "9"), ("Transfer-Encoding", "chunked")] {
          for (method, body) in [(.post, .data(Data("what?".utf8))), (.get, .none)] as [(HTTPMethod, TransportBody)] {
            let request = TransportRequest(run.server.url(), method: method, headers: [name: value], body: body)
            let log = await run.send(request, over: transport)
            try run.expect(log.failure == nil, "with \(name): \(value) it failed\(run.words(of: log.failure))")
          }
        }
        let received = run.server.requests
        try run.expect("the methods", received.map(\.method), ["POST", "GET", "POST", "GET", "POST", "GET"])
        try run.expect("the bytes of the bodies", received.map(\.bodyCount), [5, 0, 5, 0, 5, 0])
      },
      ContractPromise("adds no cookies, and follows no redirect") { run in
        run.server.program("/", .redirect(to: "/elsewhere"), .answer())
        run.server.program("/cookie", .answer(fields: ["Set-Cookie: taste=sweet"]))
        let transport = run.transport()
        for path in ["/cookie", "/", "/"] {
          _ = await run.send(TransportRequest(run.server.url(path)), over: transport)
        }
        try run.expect("what was asked for", run.server.requests.map(\.path), ["/cookie", "/", "/"])
        try run.expect("cookies", run.server.requests.compactMap { $0[field: "Cookie"] }, [])
      },
      ContractPromise("undoes a content coding that it asked for", .contentCodings) { run in
        run.server.program("/", .gzippedAnswer)
        await run.send(TransportRequest(run.server.url()))
        try run.expect("the body", run.log.body, Data(count: 2))
      },
      ContractPromise("keeps a connection for the next request", .connectionReuse) { run in
        run.server.program("/", .answer())
        let transport = run.transport()
        for _ in 0..<5 { _ = await run.send(TransportRequest(run.server.url()), over: transport) }
        try run.expect("requests", run.server.requests.count, 5)
        try run.expect("connections", run.server.connectionCount, 1)
      },
      ContractPromise("takes many requests at once") { run in
        run.server.program("/", .answer("together"))
        let transport = run.transport()
        let logs = (0..<50).map { _ in TransportLog() }
        let exchanges = logs.map { transport.start(TransportRequest(run.server.url()), telling: $0.add) }
        for log in logs { await log.end() }
        for exchange in exchanges { exchange.cancel() }
        for log in logs { try run.expect("the body", log.body, Data("together".utf8)) }
      },
    ] + challenges + onlyOnce

  private static let challenges = [
    "Basic realm=\"a\"", "Digest realm=\"a\", nonce=\"b\", qop=\"auth\"", "Bearer error=\"invalid_token\"", "Negotiate",
  ].map { scheme in
    ContractPromise("tells a refusal at once, and asks nobody for credentials: \(scheme)") { run in
      run.server.program("/", .status(401, fields: ["WWW-Authenticate: \(scheme)"]))
      for method in [HTTPMethod.get, .post] {
        let request = TransportRequest(run.server.url(), method: method, limits: .none)
        let log = await run.send(request, over: run.transport())
        try run.expect("the status\(run.words(of: log.failure))", log.heads.map(\.status), [401])
        try run.expect("WWW-Authenticate", log.heads.first?.headers["WWW-Authenticate"], scheme)
        try run.expect(log.failure == nil, "it failed\(run.words(of: log.failure))")
      }
      try run.expect("requests", run.server.requests.count, 2)
    }
  }

  private static let onlyOnce = [TransportBody.none, .data(Data("once".utf8))].map { body in
    let name = if case .none = body { "without a body" } else { "with a body" }
    return ContractPromise("never sends twice what is not idempotent, \(name)") { run in
      run.server.program("/", .answer(), .emptyReply, .answer())
      let transport = run.transport()
      for expected in [nil, TransportFailure.Kind.reset] {
        let request = TransportRequest(run.server.url(), method: .post, body: body)
        let log = await run.send(request, over: transport)
        try run.expect("the failure", log.failure?.kind, expected)
        try run.expect(log.failure?.provesNothingWasSent != true, "it says that nothing was sent")
      }
      try run.expect("requests", run.server.requests.count, 2)
    }
  }
}
