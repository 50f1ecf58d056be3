@testable import Rebound
@testable import ReboundHTTP

extension FuzzTarget {
  /// The field traceparent.
  static let traces = FuzzTarget(
    "traces",
    seeds: [
      "\0\u{4}\u{301}\u{327}-",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03-more",
      "ff-00000000000000000000000000000000-0000000000000000-00",
    ],
    words: ["00-", "ff-", "-01", "0000000000000000"]
  ) { input in
    let text = input.text()
    guard let context = SpanContext(traceparent: text) else { return }
    expectEqual(context.traceID.utf8.count, 32, "the trace")
    expectEqual(context.spanID.utf8.count, 16, "the span")
    expectEqual(SpanContext(traceparent: context.traceparent), context, "what was written of '\(text)'")
    if text.utf8.count == 55, text.hasPrefix("00-"), text.hasSuffix("-00") || text.hasSuffix("-01") {
      expectEqual(context.traceparent, text, "a field of this version")
    }
  }
}
