import Testing

@testable import Backend

@Suite("City")
struct CityTests {
  @Test(
    "a city is found in any case, with or without accents and spaces around it",
    arguments: [("paris", "Paris"), ("ZURICH", "Zürich"), ("  são paulo ", "São Paulo"), ("Bogota", "Bogotá")]
  )
  func found(name: String, city: String) {
    #expect(City.named(name)?.name == city)
  }

  @Test("what is no city is not found", arguments: ["", "Atlantis", "Par"])
  func notFound(name: String) {
    #expect(City.named(name) == nil)
  }

  @Test(
    "the nearest city is found, across the date line too",
    arguments: [(53.6, 10.1, "Hamburg"), (-37, -179.9, "Auckland"), (0, 37, "Nairobi")]
  )
  func nearest(latitude: Double, longitude: Double, name: String) {
    #expect(City.nearest(latitude: latitude, longitude: longitude)?.city.name == name)
  }

  @Test("the distance is the great circle's: Paris to London is about 344 km")
  func distance() throws {
    let london = try #require(City.named("London"))
    let paris = try #require(City.named("Paris"))
    let kilometres = City.nearest(latitude: paris.latitude, longitude: paris.longitude)?.kilometres
    #expect(kilometres == 0)
    #expect(abs(london.kilometres(toLatitude: paris.latitude, longitude: paris.longitude) - 344) < 2)
  }

  @Test("there are a few dozen cities, each once")
  func all() {
    #expect(City.all.count >= 36)
    #expect(Set(City.all.map(\.name)).count == City.all.count)
  }
}
