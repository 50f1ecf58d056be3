import Foundation
import Testing

@testable import Backend

@Suite("Climate")
struct ClimateTests {
  private let january = Date(timeIntervalSince1970: 1_768_478_400)  // 2026-01-15
  private let july = Date(timeIntervalSince1970: 1_784_116_800)  // 2026-07-15

  @Test("the weather is the same within an hour and another in the next")
  func hourly() throws {
    let oslo = try #require(City.named("Oslo"))
    let weather = Climate.observe(oslo, at: july)
    #expect(weather == Climate.observe(oslo, at: july.addingTimeInterval(3599)))
    #expect(weather.observed == "2026-07-15T12:00:00Z")
    #expect(weather != Climate.observe(oslo, at: july.addingTimeInterval(3600)))
  }

  @Test("winter is colder than summer, north and south")
  func seasons() throws {
    for name in ["Helsinki", "Toronto", "Hamburg"] {
      let city = try #require(City.named(name))
      #expect(Climate.observe(city, at: january).temperature < Climate.observe(city, at: july).temperature)
    }
    let melbourne = try #require(City.named("Melbourne"))
    #expect(Climate.observe(melbourne, at: january).temperature > Climate.observe(melbourne, at: july).temperature)
  }

  @Test("snow falls only when it is cold, and every number is one that weather can have")
  func sensible() {
    for hour in 0..<200 {
      for city in City.all {
        let weather = Climate.observe(city, at: january.addingTimeInterval(Double(hour) * 3600))
        #expect((-40...50).contains(weather.temperature))
        #expect((0...100).contains(weather.humidity))
        if weather.condition == .snow { #expect(weather.temperature <= 2) }
      }
    }
  }
}
