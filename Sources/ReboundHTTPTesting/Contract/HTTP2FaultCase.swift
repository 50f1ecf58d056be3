/// What a server of HTTP/2 can do wrong, or do in time to be believed, and what every transport is to make of it.
///
/// A ``FrameServer`` behind a ``TLSTerminator`` brings it about.
public struct HTTP2FaultCase: Hashable, Sendable, CustomStringConvertible {
  /// What the server does: "resets the stream (`CANCEL`)".
  public let name: String
  /// For each request in turn; the last is for all that follow.
  public let answers: [[FrameServer.Frame]]
  /// Whether it is asked with POST and a body, and not with GET.
  public let isOrder: Bool
  /// How it ends.
  public let verdict: FaultCase.Verdict
  /// How often the request may come.
  public let requestCounts: ClosedRange<Int>
  /// Whether a transport that sends nothing again by itself, so that one request comes, may say `.reset`.
  public let maySendOnce: Bool

  /// The name, and what it is asked with.
  public var description: String { "\(name), \(isOrder ? "an order" : "GET")" }

  /// All of them.
  public static let all: [HTTP2FaultCase] =
    [
      // The connection stays: libcurl 7.88 may take a body for whole whose stream is reset, if the connection ends right behind.
      inBody("resets the stream in the body (`INTERNAL_ERROR`)", .reset(2), .stall),
      inBody("refuses the stream in the body (`REFUSED_STREAM`)", .reset(7), .stall),
      inBody("cancels the stream in the body (`CANCEL`)", .reset(8), .stall),
      inBody("ends the connection in the body (`GOAWAY`)", .goAway(last: 1), .ping, .close),
      inBody("ends the connection in the body for an error (`GOAWAY`)", .goAway(last: 1, 2), .ping, .close),
      order("resets the stream (`INTERNAL_ERROR`)", .reset(2)),
      order("cancels the stream (`CANCEL`)", .reset(8)),
      order("sends data that nobody asked for", .nonsense),
      order("closes the connection", .close),
    ] + unprocessed

  /// The server has not looked at the request, and says so (RFC 9113 §8.7).
  private static let unprocessed: [HTTP2FaultCase] = [
    HTTP2FaultCase(
      "refuses the stream once (`REFUSED_STREAM`)",
      [[.reset(7)], ok],
      isOrder: false,
      .answer(200),
      requestCounts: 2...2,
      maySendOnce: true
    ),
    HTTP2FaultCase(
      "refuses every stream (`REFUSED_STREAM`)",
      [[.reset(7)]],
      isOrder: false,
      reset,
      requestCounts: 2...10,
      maySendOnce: true
    ),
    HTTP2FaultCase("ends the connection unread (`GOAWAY`)", [[.goAway(last: 0)]], isOrder: false, reset),
    refusedOrder,
    HTTP2FaultCase("ends the connection unread (`GOAWAY`)", [[.goAway(last: 0)], ok], isOrder: true, reset),
  ]

  /// A POST request with a body that is refused unread: Foundation on Linux stops the process at it.
  public static let refusedOrder = HTTP2FaultCase(
    "refuses the stream once (`REFUSED_STREAM`)",
    [[.reset(7)], ok],
    isOrder: true,
    reset
  )

  private static let ok: [FrameServer.Frame] = [.head, .data("ok", isLast: true)]
  private static let reset = FaultCase.Verdict.failure(.reset)

  private static func inBody(_ name: String, _ frames: FrameServer.Frame...) -> HTTP2FaultCase {
    HTTP2FaultCase(name, [[.head, .data("half"), .ping] + frames], isOrder: false, .failure(.truncated))
  }

  private static func order(_ name: String, _ frame: FrameServer.Frame) -> HTTP2FaultCase {
    HTTP2FaultCase(name, [[frame]], isOrder: true, reset)
  }

  private init(
    _ name: String,
    _ answers: [[FrameServer.Frame]],
    isOrder: Bool,
    _ verdict: FaultCase.Verdict,
    requestCounts: ClosedRange<Int> = 1...1,
    maySendOnce: Bool = false
  ) {
    (self.name, self.answers, self.isOrder, self.verdict) = (name, answers, isOrder, verdict)
    (self.requestCounts, self.maySendOnce) = (requestCounts, maySendOnce)
  }
}
