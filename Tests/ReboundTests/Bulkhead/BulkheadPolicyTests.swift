import Rebound
import Testing

@Suite("BulkheadPolicy")
struct BulkheadPolicyTests {
  @Test("refuses numbers that make no sense, and says which and what to give")
  func invalid() {
    let cases: [(() throws -> BulkheadPolicy, InvalidBulkheadPolicy, String)] = [
      ({ try BulkheadPolicy(maxConcurrent: 0) }, .concurrencyNotPositive(0), "at least 1"),
      ({ try BulkheadPolicy(maxConcurrent: 1, maxQueue: -1) }, .negativeQueue(-1), "0 to refuse at once"),
      ({ try BulkheadPolicy(maxConcurrent: 1, maxWait: .zero) }, .waitNotPositive(.zero), "nil for no limit"),
    ]
    for (make, error, text) in cases {
      #expect(throws: error) { try make() }
      #expect("\(error)".contains(text))
    }
  }
}
