import Foundation
import ServerTesting
import Testing
import WebServer

@testable import Backend

@Suite("WeatherService")
struct WeatherServiceTests {
  private struct Grant: Decodable {
    let accessToken: String
    let expiresInSeconds: Int
  }

  private struct Problem: Decodable {
    let title: String
    let status: Int
    let detail: String
  }

  private struct Weather: Decodable {
    let city: String
    let observed: String
  }

  private struct Report: Decodable {
    let issued: Int
    let key: String
  }

  private let date = Date(timeIntervalSince1970: 1_784_116_800)

  private func withWeather(_ body: (BackendServer) async throws -> Void) async throws {
    var configuration = BackendServer.Configuration.forTests()
    configuration.date = { [date] in date }
    try await withBackend(configuration, body)
  }

  private func token(_ backend: BackendServer, key: String = "rebound") async throws -> Answer? {
    try await LoopbackClient.request("POST", "/token", port: backend.port, headers: ["X-API-Key: \(key)"])
  }

  private func authorisation(_ backend: BackendServer) async throws -> String {
    let answer = try #require(try await token(backend))
    return "Authorization: Bearer \(try JSONDecoder().decode(Grant.self, from: answer.body).accessToken)"
  }

  @Test("the key buys a token, and the token the weather by name and by position")
  func weather() async throws {
    try await withWeather { backend in
      let grant = try #require(try await token(backend))
      #expect(grant.status == 201)
      #expect(try JSONDecoder().decode(Grant.self, from: grant.body).expiresInSeconds == 60)
      let authorisation = try await authorisation(backend)
      for target in ["/weather?city=hamburg", "/weather?latitude=53.6&longitude=10.1"] {
        let answer = try #require(try await backend.get(target, headers: [authorisation]))
        #expect(answer.status == 200)
        let weather = try JSONDecoder().decode(Weather.self, from: answer.body)
        #expect(weather.city == "Hamburg")
        #expect(weather.observed == "2026-07-15T12:00:00Z")
      }
    }
  }

  @Test(
    "what can't be answered is a problem with a title and a detail",
    arguments: [
      ("/weather?city=Atlantis", 404, "City not found", "There is no weather for 'Atlantis'."),
      ("/weather?city=%3Cb%3E%22", 404, "City not found", #"There is no weather for '<b>"'."#),
      (
        "/weather?latitude=0&longitude=-30", 404, "City not found",
        "There is no city with known weather within 500 km of this place."
      ),
      (
        "/weather", 400, "Place missing",
        "Give a city, or a latitude from -90 to 90 and a longitude from -180 to 180; latitude is not right."
      ),
      (
        "/weather?latitude=1&longitude=181", 400, "Place missing",
        "Give a city, or a latitude from -90 to 90 and a longitude from -180 to 180; longitude is not right."
      ),
      (
        "/weather?latitude=nan&longitude=1", 400, "Place missing",
        "Give a city, or a latitude from -90 to 90 and a longitude from -180 to 180; latitude is not right."
      ),
    ]
  )
  func problems(target: String, status: Int, title: String, detail: String) async throws {
    try await withWeather { backend in
      let answer = try #require(try await backend.get(target, headers: [try await authorisation(backend)]))
      #expect(answer.status == status)
      #expect(answer["Content-Type"] == "application/problem+json")
      let problem = try JSONDecoder().decode(Problem.self, from: answer.body)
      #expect(problem.status == status)
      #expect(problem.title == title)
      #expect(problem.detail == detail)
    }
  }

  @Test("a wrong key and a missing one are 401")
  func wrongKey() async throws {
    try await withWeather { backend in
      let wrong = try #require(try await token(backend, key: "guess"))
      #expect(wrong.status == 401)
      #expect(try JSONDecoder().decode(Problem.self, from: wrong.body).title == "Invalid API key")
      let missing = try await backend.post("/token", "{}")
      #expect(missing?.status == 401)
      #expect(missing?["WWW-Authenticate"] == "ApiKey")
    }
  }

  @Test("a missing, an unknown and an expired token are 401, and say which")
  func tokens() async throws {
    try await withWeather { backend in
      func title(_ headers: [String]) async throws -> String {
        let answer = try #require(try await backend.get("/weather?city=Oslo", headers: headers))
        #expect(answer.status == 401)
        return try JSONDecoder().decode(Problem.self, from: answer.body).title
      }
      #expect(try await title([]) == "Access token missing")
      #expect(try await title(["Authorization: Basic x"]) == "Access token missing")
      #expect(try await title(["Authorization: Bearer x"]) == "Access token unknown")
      let authorisation = try await authorisation(backend)
      _ = try await backend.delete("/control/tokens")
      #expect(try await title([authorisation]) == "Access token expired")
      let answer = try await backend.get("/weather?city=Oslo", headers: [authorisation])
      #expect(answer?["WWW-Authenticate"] == #"Bearer error="invalid_token""#)
    }
  }

  @Test("an unchanged answer asked for by its entity tag is 304, without a body")
  func notModified() async throws {
    try await withWeather { backend in
      let authorisation = try await authorisation(backend)
      let first = try await backend.get("/weather?city=Oslo", headers: [authorisation])
      let tag = try #require(first?["ETag"])
      let second = try await backend.get("/weather?city=Oslo", headers: [authorisation, "If-None-Match: \(tag)"])
      #expect(second?.status == 304)
      #expect(second?.body.isEmpty == true)
      #expect(second?["ETag"] == tag)
      let other = try await backend.get("/weather?city=Rome", headers: [authorisation, "If-None-Match: \(tag)"])
      #expect(other?.status == 200)
    }
  }

  @Test("the control routes change the key, end the tokens, count them, and reset them")
  func control() async throws {
    try await withWeather { backend in
      let authorisation = try await authorisation(backend)
      let changed = try #require(try await backend.post("/control/key", #"{"key":"new"}"#))
      let report = try JSONDecoder().decode(Report.self, from: changed.body)
      #expect(report.key == "new")
      #expect(report.issued == 1)
      let weather = try await backend.get("/weather?city=Oslo", headers: [authorisation])
      #expect(weather?.status == 401)
      let old = try await token(backend)
      #expect(old?.status == 401)
      let new = try await token(backend, key: "new")
      #expect(new?.status == 201)
      let empty = try await backend.post("/control/key", #"{"key":""}"#)
      #expect(empty?.status == 400)
      _ = try await backend.post("/control/reset", "{}")
      let again = try await token(backend)
      #expect(again?.status == 201)
    }
  }
}
