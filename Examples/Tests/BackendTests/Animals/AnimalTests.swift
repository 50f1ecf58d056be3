import Testing

@testable import Backend

@Suite("Animal")
struct AnimalTests {
  @Test("each animal is there once, with a fact that is a sentence")
  func all() {
    #expect(Set(Animal.all.map(\.name)).count == Animal.all.count)
    for animal in Animal.all {
      #expect(!animal.name.isEmpty)
      #expect(animal.fact.hasSuffix("."))
    }
  }
}
