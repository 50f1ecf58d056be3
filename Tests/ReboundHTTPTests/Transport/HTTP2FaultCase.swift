#if Curl
  import ReboundHTTPTesting
  import Testing

  /// What a server of HTTP/2 can do wrong, or do in time to be believed, and what it is called.
  struct HTTP2FaultCase: Sendable, CustomTestStringConvertible {
    let name: String
    /// For each request in turn; the last is for all that follow.
    let answers: [[FrameServer.Frame]]
    /// Whether it is asked with POST and a body, and not with GET.
    let isOrder: Bool
    let verdict: FaultCase.Verdict
    /// How often the request may come.
    var requestCounts = 1...1
    /// Foundation on Linux stops the process, which no test survives; ``FoundationFaultTests`` has it.
    var stopsFoundation = false

    var testDescription: String { name }

    static let all: [HTTP2FaultCase] =
      [
        inBody("resets the stream in the body (`INTERNAL_ERROR`)", .reset(2)),
        inBody("refuses the stream in the body (`REFUSED_STREAM`)", .reset(7)),
        inBody("cancels the stream in the body (`CANCEL`)", .reset(8)),
        inBody("ends the connection in the body (`GOAWAY`)", .goAway(last: 1)),
        inBody("ends the connection in the body for an error (`GOAWAY`)", .goAway(last: 1, 2)),
        order("resets the stream (`INTERNAL_ERROR`)", .reset(2)),
        order("cancels the stream (`CANCEL`)", .reset(8)),
        order("sends data that nobody asked for", .nonsense),
        order("closes the connection", .close),
      ]
      // Not processed (RFC 9113 §8.7).
      + [
        HTTP2FaultCase(
          "refuses the stream once (`REFUSED_STREAM`)",
          [.reset(7)],
          ok,
          isOrder: false,
          .answer(200),
          requestCounts: 2...2
        ),
        HTTP2FaultCase(
          "refuses every stream (`REFUSED_STREAM`)",
          [.reset(7)],
          isOrder: false,
          reset,
          requestCounts: 2...10
        ),
        HTTP2FaultCase("ends the connection unread (`GOAWAY`)", [.goAway(last: 0)], isOrder: false, reset),
        HTTP2FaultCase(
          "refuses the stream once (`REFUSED_STREAM`)",
          [.reset(7)],
          ok,
          isOrder: true,
          reset,
          stopsFoundation: true
        ),
        HTTP2FaultCase("ends the connection unread (`GOAWAY`)", [.goAway(last: 0)], ok, isOrder: true, reset),
      ]

    private static let ok = [FrameServer.Frame.head, .data("ok", isLast: true)]
    private static let reset = FaultCase.Verdict.failure(.reset)

    private static func inBody(_ name: String, _ frame: FrameServer.Frame) -> HTTP2FaultCase {
      HTTP2FaultCase(
        name,
        [.head, .data("half"), .ping, frame, .ping, .close],
        isOrder: false,
        .failure(.truncated)
      )
    }

    private static func order(_ name: String, _ frame: FrameServer.Frame) -> HTTP2FaultCase {
      HTTP2FaultCase(name, [frame], isOrder: true, reset)
    }

    private init(
      _ name: String,
      _ answers: [FrameServer.Frame]...,
      isOrder: Bool,
      _ verdict: FaultCase.Verdict,
      requestCounts: ClosedRange<Int> = 1...1,
      stopsFoundation: Bool = false
    ) {
      (self.name, self.answers, self.isOrder, self.verdict) = (name, answers, isOrder, verdict)
      (self.requestCounts, self.stopsFoundation) = (requestCounts, stopsFoundation)
    }
  }
#endif
