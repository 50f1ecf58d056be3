import Expectations
import ReboundTesting
import Testing

@Suite("RaceCrew")
struct RaceCrewTests {
  @Test("runs no more bodies than it has threads, and lets go of them")
  func size() {
    final class Body {}
    let crew = RaceCrew(size: 1)
    weak var kept: Body?
    do {
      let body = Body()
      kept = body
      #expect(crew.run([{ withExtendedLifetime(body) {} }, { Issue.record("has no thread") }]))
    }
    #expect(kept == nil)
    expectEqual(crew.size, 1)
    #expect(RaceCrew(size: -1).run([]))
  }
}
