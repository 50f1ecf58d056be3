import Expectations
import Rebound
import Testing

@Suite("CachePolicy")
struct CachePolicyTests {
  @Test("brings a value's own lifetime into range")
  func lifetime() {
    let lifetime = CacheLifetime(fresh: .seconds(-1), staleWhileRevalidate: .seconds(-1), staleIfError: .seconds(-1))
    expectEqual(lifetime, CacheLifetime(fresh: .zero))
  }
}
