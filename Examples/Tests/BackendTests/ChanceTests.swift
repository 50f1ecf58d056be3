import Testing

@testable import Backend

@Suite("Chance")
struct ChanceTests {
  @Test("it is SplitMix64: the published numbers for the seed 1234567")
  func vectors() {
    var chance = Chance(seed: 1_234_567)
    #expect(
      (0..<3).map { _ in chance.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
      ]
    )
  }
}
