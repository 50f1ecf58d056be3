import Expectations
import Rebound
import Testing

@Suite("Cached")
struct CachedTests {
  @Test(
    "says in words where a value comes from, and maps to another from there",
    arguments: [
      (Cached<Int>.Source.network, "network", false),
      (.cache(stale: nil), "cache", false),
      (.cache(stale: .revalidating), "saved copy, while a new one is fetched", true),
      (
        .cache(stale: .error(TestFailure.transient)), "saved copy, since no new one could be had (transient)", true
      ),
    ]
  )
  func sources(source: Cached<Int>.Source, text: String, isStale: Bool) {
    let cached = Cached(value: 7, age: .seconds(3), source: source)
    expectEqual("\(cached.source)", text)
    expectEqual(cached.isStale, isStale)
    let mapped = cached.map { "\($0)" }
    expectEqual(mapped.value, "7")
    expectEqual(mapped.age, .seconds(3))
    expectEqual("\(mapped.source)", text)
  }
}
