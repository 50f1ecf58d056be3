import Expectations
import Rebound
import Testing

@Suite("CacheEvent")
struct CacheEventTests {
  @Test(
    "is one line for a log",
    arguments: [
      (CacheEvent<String>.hit("oslo", age: .seconds(12)), "oslo: hit, 12.0 seconds old"),
      (.revalidates("oslo", age: .seconds(12)), "oslo: stale, 12.0 seconds old; delivered while a new one is fetched"),
      (
        .staleIfError("oslo", age: .seconds(12), TestFailure.transient),
        "oslo: stale, 12.0 seconds old; delivered since the call failed (transient)"
      ),
      (.hitFailure("oslo", TestFailure.transient), "oslo: failed lately (transient); not called again"),
      (.missed("oslo"), "oslo: missed"),
      (.stored("oslo"), "oslo: stored"),
      (.tooCostly("oslo", cost: 9), "oslo: not stored; costs 9"),
      (.storedFailure("oslo", TestFailure.transient), "oslo: failure stored (transient)"),
      (.revalidationFailed("oslo", TestFailure.transient), "oslo: no new value (transient); the stale one stays"),
      (.evicted("oslo"), "oslo: evicted"),
    ]
  )
  func lines(event: CacheEvent<String>, line: String) {
    expectEqual("\(event)", line)
  }
}
