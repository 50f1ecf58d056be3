import Expectations
import ReboundHTTP
import Testing

@Suite("HTTPMethod")
struct HTTPMethodTests {
  @Test(
    "is safe and idempotent as RFC 9110 §9.2 has it",
    arguments: [
      (.get, true, true), (.head, true, true), (.options, true, true), (.trace, true, true),
      (.put, false, true), (.delete, false, true), (.post, false, false), (.patch, false, false),
      ("PROPFIND", false, false), ("get", false, false),
    ] as [(HTTPMethod, Bool, Bool)]
  )
  func table(method: HTTPMethod, isSafe: Bool, isIdempotent: Bool) {
    expectEqual(method.isSafe, isSafe)
    expectEqual(method.isIdempotent, isIdempotent)
  }
}
