import Rebound
import Testing

@Suite("CachePolicy")
struct CachePolicyTests {
  @Test("refuses numbers that make no sense, and says which and what to give")
  func invalid() {
    let cases: [(() throws -> CachePolicy, InvalidCachePolicy, String)] = [
      ({ try CachePolicy(fresh: .seconds(-1)) }, .negativeDuration(.seconds(-1)), "-1.0 seconds"),
      ({ try CachePolicy(fresh: .zero, negative: .seconds(-2)) }, .negativeDuration(.seconds(-2)), "zero for none"),
      ({ try CachePolicy(fresh: .zero, maxCount: 0) }, .countNotPositive(0), "at least 1"),
      ({ try CachePolicy(fresh: .zero, maxCost: 0) }, .costNotPositive(0), "nil for no limit"),
    ]
    for (make, error, text) in cases {
      #expect(throws: error) { try make() }
      #expect("\(error)".contains(text))
    }
  }

  @Test("brings a value's own lifetime into range")
  func lifetime() {
    let lifetime = CacheLifetime(fresh: .seconds(-1), staleWhileRevalidate: .seconds(-1), staleIfError: .seconds(-1))
    #expect(lifetime == CacheLifetime(fresh: .zero))
  }
}
