import Expectations
import ReboundHTTP
import Testing

@Suite("SpanContext")
struct SpanContextTests {
  @Test("is what was read, when it is written again")
  func roundTrip() throws {
    for text in [
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-00000000000000000000000000000001-0000000000000001-00",
    ] {
      expectEqual(SpanContext(traceparent: text)?.traceparent, text)
    }
  }

  @Test("reads what a later version may write, and keeps the one flag that it knows")
  func laterVersions() throws {
    let context = try #require(
      SpanContext(traceparent: "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-09-what-else")
    )
    #expect(context.isSampled)
    expectEqual(context.traceparent, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
  }

  @Test(
    "ignores what is none of the kind",
    arguments: [
      "", "-", "00", "hello", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
      "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
      "00-4bf92f3577b34da6a3ce929d0e0e473٣-00f067aa0ba902b7-01",
    ]
  )
  func malformed(text: String) {
    #expect(SpanContext(traceparent: text) == nil)
  }
}
