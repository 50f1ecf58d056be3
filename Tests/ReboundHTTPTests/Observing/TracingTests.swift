import Expectations
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("Tracing")
struct TracingTests {
  private let spans = SpanLog()

  private func test(
    _ script: [ScriptedTransport.Step],
    under parent: SpanContext? = nil,
    _ more: [any HTTPMiddleware] = []
  ) -> ClientUnderTest {
    let tracing = Tracing(
      under: { parent },
      time: TestScheduler().time.withWallClock { .seconds(1_000) },
      whenEnded: spans.write
    )
    var test = ClientUnderTest(
      script,
      [Retrying(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1)))), tracing] + more
    )
    test.client = test.client.onEvent(tracing.write)
    return test
  }

  @Test("a call is a span, and each attempt one within it, with how often it was sent again")
  func attempts() throws {
    let test = test([.status(503).after(.milliseconds(250)), .status(204).after(.milliseconds(500))])
    _ = try test.run(Anything(query: ["appid": "s3cret", "q": "Rome"]))
    let spans = spans.spans
    try #require(spans.count == 3)
    let call = spans[2]
    expectEqual(spans.map(\.isAttempt), [true, true, false])
    expectEqual(Set(spans.map(\.context.traceID)).count, 1)
    expectEqual(Set(spans.map(\.context.spanID)).count, 3)
    expectEqual(spans.map(\.parentID), [call.context.spanID, call.context.spanID, nil])
    expectEqual(spans.map(\.start), [.seconds(1_000), .seconds(1_000) + .milliseconds(1_250), .seconds(1_000)])
    expectEqual(spans.map(\.duration), [.milliseconds(250), .milliseconds(500), .milliseconds(1_750)])
    expectEqual(spans.map { $0.attributes["http.request.resend_count"] }, [nil, .number(1), nil])
    expectEqual(spans.map { $0.attributes["http.response.status_code"] }, [.number(503), .number(204), nil])
    expectEqual(spans.map { $0.attributes["error.type"] }, [.text("503"), nil, nil])
    expectEqual(Set(spans.map { $0.attributes["server.port"] }), [.number(443)])
    expectEqual(spans.map { $0.failure == nil }, [false, true, true])
    expectEqual(call.name, "Anything")
    #expect(!"\(spans)".contains("s3cret"))
  }

  @Test("each of two that watch one client makes spans of its own, and one that puts nothing into requests as well")
  func several() throws {
    let others = SpanLog()
    let other = Tracing(time: TestScheduler().time.withWallClock { .seconds(2_000) }, whenEnded: others.write)
    var test = test([.status(503), .status(204)])
    test.client = test.client.onEvent(other.write)
    _ = try test.run(Anything())
    expectEqual(spans.spans.map(\.isAttempt), [true, true, false])
    expectEqual(spans.spans.map(\.context), others.spans.map(\.context))
    expectEqual(spans.spans.map(\.start), others.spans.map { $0.start - .seconds(1_000) })
  }

  @Test("what a transport has measured is in the attributes of the attempt, also of one that failed")
  func timings() throws {
    let timings = TransportTimings(
      nameLookup: .microseconds(1_500),
      connect: .milliseconds(2),
      tls: .milliseconds(3),
      firstByte: .seconds(4)
    )
    let script =
      [
        .status(503).timed(TransportTimings(firstByte: .zero)), .status(204).timed(timings),
      ] as [ScriptedTransport.Step]
    _ = try test(script).run(Anything())
    let measured = spans.spans.map { $0.attributes.filter { $0.key.hasPrefix("rebound.time.") } }
    expectEqual(
      measured,
      [
        ["rebound.time.first_byte": .number(0)],
        [
          "rebound.time.name_lookup": .number(1_500), "rebound.time.connect": .number(2_000),
          "rebound.time.tls": .number(3_000), "rebound.time.first_byte": .number(4_000_000),
        ],
        [:],
      ]
    )
  }

  @Test("each attempt tells the server which span it is")
  func propagation() throws {
    let test = test([.status(503), .status(204)])
    _ = try test.run(Anything())
    let sent = test.transport.calls.map { $0.request.headers["traceparent"] }
    expectEqual(sent, spans.spans.filter(\.isAttempt).map(\.context.traceparent))
    expectEqual(Set(sent).count, 2)
  }

  @Test("another origin is told of the trace only if the client's redirects carry it there")
  func otherOrigin() throws {
    let script: [ScriptedTransport.Step] = [
      .redirect(to: "/here"), .redirect(to: "https://other.example/"), .status(204),
    ]
    var test = test(script)
    _ = try test.run(Anything())
    expectEqual(test.transport.calls.map { $0.request.headers.contains(name: "traceparent") }, [true, true, false])
    test = self.test(script)
    test.client.redirects = .follow().carrying(header: "traceparent")
    _ = try test.run(Anything())
    expectEqual(test.transport.calls.map { $0.request.headers.contains(name: "traceparent") }, [true, true, true])
  }

  @Test("a call within another trace goes on with it, and with whether it is kept")
  func parent() throws {
    let parent = try #require(SpanContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"))
    let test = test([.status(204)], under: parent)
    _ = try test.run(Anything())
    expectEqual(spans.spans.map(\.context.traceID), [parent.traceID, parent.traceID])
    expectEqual(spans.spans.last?.parentID, parent.spanID)
    expectEqual(test.transport.calls[0].request.headers["traceparent"]?.hasSuffix("-00"), true)
  }

  @Test("a request's own context is left as it is")
  func ownContext() throws {
    let own = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    let test = test([.status(204)])
    _ = try test.run(Anything(headers: ["traceparent": own]))
    expectEqual(test.transport.calls[0].request.headers["traceparent"], own)
    expectEqual(spans.spans[0].context.traceparent, own)
  }

  @Test("a call that nobody waits for any more ends its spans as cancelled")
  func cancelled() throws {
    let test = test([.silence])
    let recorder = test.send(Anything())
    test.scheduler.advance(by: .seconds(2))
    recorder.cancel()
    expectEqual(spans.spans.map(\.isAttempt), [true, false])
    expectEqual(spans.spans.map(\.duration), [.seconds(2), .seconds(2)])
    expectEqual(spans.spans.map { $0.attributes["error.type"] }, [.text("cancelled"), .text("cancelled")])
  }

  @Test("attempts side by side are a span each; the one that has lost ends as cancelled")
  func hedged() throws {
    let test = test(
      [.status(200).after(.seconds(5)), .status(204).after(.seconds(1))],
      [Hedging(try HedgePolicy(delay: .after(.seconds(2))))]
    )
    _ = try test.run(Anything())
    let spans = spans.spans
    expectEqual(spans.map(\.isAttempt), [true, true, false])
    expectEqual(spans.map(\.duration), [.seconds(1), .seconds(3), .seconds(3)])
    expectEqual(spans.map { $0.attributes["http.request.resend_count"] }, [.number(1), nil, nil])
    expectEqual(spans.map { $0.attributes["http.response.status_code"] }, [.number(204), nil, nil])
    expectEqual(spans.map { $0.attributes["error.type"] }, [nil, .text("cancelled"), nil])
    let sent = test.transport.calls.map { $0.request.headers["traceparent"] }
    expectEqual(sent, [spans[1].context.traceparent, spans[0].context.traceparent])
  }

  private static func answer(_ control: String) -> ScriptedTransport.Step {
    .response(200, ["Cache-Control": "max-age=0, \(control)", "ETag": "\"1\""])
  }

  @Test("an attempt that is cut off ends as cancelled, also if a copy answers in its place")
  func cutOff() throws {
    let test = test([Self.answer("stale-if-error=60"), .silence], [Caching(in: HTTPCache())])
    _ = try test.run(Anything())
    let recorder = try test.runDetailed(Anything(deadline: .seconds(2)))
    expectEqual(recorder.values.map(\.source), [.cache(age: .seconds(2), .staleIfError)])
    let late = spans.spans.dropFirst(2)
    expectEqual(late.map(\.isAttempt), [true, false])
    expectEqual(late.map(\.duration), [.seconds(2), .seconds(2)])
    expectEqual(late.map { $0.attributes["error.type"] }, [.text("cancelled"), nil])
    expectEqual(late.map(\.failure), ["cancelled", nil])
  }

  @Test("the renewal of a copy that has answered is a call of its own, and its attempts are in spans until they end")
  func renewal() throws {
    let failing = ScriptedTransport.Step.status(503).after(.seconds(1))
    let test = test([Self.answer("stale-while-revalidate=60"), failing, failing, failing], [Caching(in: HTTPCache())])
    for _ in 0..<2 { try expectEqual(test.run(Anything()).values.count, 1) }
    let spans = spans.spans
    try #require(spans.count == 7)
    expectEqual(spans.map(\.isAttempt), [true, false, false, true, true, true, false])
    expectEqual(
      spans.map { $0.attributes["error.type"] },
      [
        nil, nil, nil, .text("503"), .text("503"), .text("503"), .text("503"),
      ]
    )
    #expect(spans[3...5].allSatisfy { $0.parentID == spans[6].context.spanID && $0.duration == .seconds(1) })
    expectEqual(Set(spans.map(\.context.traceID)).count, 3)
    let sent = test.transport.calls.map { $0.request.headers["traceparent"] }
    expectEqual(sent, spans.filter(\.isAttempt).map(\.context.traceparent))
  }

  @Test("two calls have two traces")
  func twoCalls() throws {
    let test = test([.status(204), .status(204)])
    _ = try test.run(Anything())
    _ = try test.run(Anything())
    expectEqual(Set(spans.spans.map(\.context.traceID)).count, 2)
  }
}
