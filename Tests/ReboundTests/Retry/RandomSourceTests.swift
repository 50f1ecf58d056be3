import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("RandomSource")
struct RandomSourceTests {
  @Test("brings numbers of a faulty generator into 0..<1", arguments: [-1, -0.0, 0, 1, 2, .infinity, -.infinity, .nan])
  func clamps(number: Double) {
    #expect((0..<1).contains(RandomSource { number }.next()))
  }

  @Test("passes good numbers on")
  func passesOn() {
    expectEqual(RandomSource { 0.25 }.next(), 0.25)
  }

  @Test("draws from a generator of its own")
  func drawsFromGenerator() {
    let draw = { (source: RandomSource) in (0..<100).map { _ in source.next() } }
    let numbers = draw(RandomSource(drawingFrom: SeededRandom(seed: 5)))
    expectEqual(numbers, draw(.seeded(5)))
    expectEqual(Set(numbers).count, 100)
    #expect(numbers.allSatisfy { (0..<1).contains($0) })
  }

  @Test("draws different numbers from the system")
  func system() {
    #expect(Set((0..<100).map { _ in RandomSource.system.next() }).count > 90)
  }
}
