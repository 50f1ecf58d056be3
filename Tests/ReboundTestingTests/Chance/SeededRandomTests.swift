import Expectations
import ReboundTesting
import Testing

@Suite("SeededRandom")
struct SeededRandomTests {
  @Test("gives the published numbers of SplitMix64 for seed 1234567")
  func publishedNumbers() {
    var random = SeededRandom(seed: 1_234_567)
    let numbers = (0..<5).map { _ in random.next() }
    expectEqual(
      numbers,
      [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
        4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
      ]
    )
  }

  @Test("gives even numbers in 0..<1")
  func units() {
    var random = SeededRandom(seed: 1)
    let numbers = (0..<100_000).map { _ in random.nextUnit() }
    #expect(numbers.allSatisfy { (0..<1).contains($0) })
    let mean = numbers.reduce(0, +) / 100_000
    #expect(abs(mean - 0.5) < 0.01)
  }
}
