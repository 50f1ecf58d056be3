import Expectations
import Testing

@testable import Rebound

@Suite("RetryAfterProviding")
struct RetryAfterProvidingTests {
  private struct Plain: Error {}
  private struct Other: Error {}
  private struct Hinting: RetryAfterProviding {
    var retryAfter: Duration? = .seconds(7)
  }

  @Test("an error that asks for no pause hides none that does, whichever comes first")
  func askedPauses() {
    let rows: [(any Error, Duration?)] = [
      (Plain(), nil), (Hinting(), .seconds(7)), (Plain(), nil), (Other(), nil), (Plain(), nil),
      (Hinting(retryAfter: nil), nil), (Hinting(), .seconds(7)), (Other(), nil),
    ]
    for (error, expected) in rows { expectEqual(pause(askedBy: error), expected) }
  }

  @Test("the type of an error is the same in a box and out of it")
  func types() {
    let boxed: any Error = Plain()
    #expect(isExactly(Plain(), Plain.self))
    #expect(isExactly(boxed, Plain.self))
    #expect(!isExactly(boxed, Other.self))
    #expect(!isExactly(Plain(), Other.self))
  }
}
