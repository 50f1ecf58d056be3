import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("InjectionRate")
struct InjectionRateTests {
  private func hits(_ rate: InjectionRate, of count: Int = 10_000) async -> Int {
    let chaos = Chaos<Int, TestFailure>(random: .seeded(7)).fault(at: rate) { .transient }
    var hits = 0
    for _ in 0..<count where (try? await chaos.run { 1 }) == nil { hits += 1 }
    return hits
  }

  @Test("hits as often as it says, never at 0 and always at 1")
  func share() async {
    await expectEqual(hits(0), 0)
    await expectEqual(hits(1), 10_000)
    #expect((900...1_100).contains(await hits(0.1)))
    await expectEqual(hits(InjectionRate(clamping: .nan)), 0)
    await expectEqual(hits(-3), 0)
    await expectEqual(hits(3), 10_000)
  }

  @Test("takes no number from chance where it leaves nothing to that", arguments: [(0.0, 0), (0.5, 10), (1.0, 0)])
  func draws(rate: Double, count: Int) async throws {
    let draws = Log<Void>()
    let random = RandomSource {
      draws.write(())
      return 0.75
    }
    let chaos = Chaos<Int, TestFailure>(random: random).fault(at: try InjectionRate(rate)) { .transient }
    for _ in 0..<10 { _ = try? await chaos.run { 1 } }
    expectEqual(draws.count, count)
  }

  @Test("a rate that is no share is refused", arguments: [-0.1, 1.1, .nan, .infinity])
  func refuses(rate: Double) {
    let error = #expect(throws: InvalidPolicy.self) { try InjectionRate(rate) }
    #expect(error?.kind == .chaos && error?.setting == "rate")
  }

  @Test("may change from one time to the next")
  func function() async throws {
    let calls = EventLog<Int>()
    let rate = InjectionRate {
      calls.write(0)
      return calls.count > 2 ? 1 : 0
    }
    await expectEqual(hits(rate, of: 5), 3)
  }
}
