import Foundation
import Testing
import WebServer

@testable import Backend

@Suite("BackendSettings")
struct BackendSettingsTests {
  private func settings(
    _ environment: [String: String],
    in folder: URL = URL(fileURLWithPath: "/somewhere")
  ) throws(SettingsError) -> BackendServer.Configuration {
    try BackendServer.Configuration(environment: environment, folder: folder) { Issue.record("reported: \($0)") }
  }

  @Test("without settings there are defaults; an empty setting is none", arguments: [[:], ["BACKEND_PORT": ""]])
  func defaults(environment: [String: String]) throws {
    let configuration = try settings(environment)
    #expect(configuration.server.port == 8080)
    #expect(configuration.server.address == "127.0.0.1")
    #expect(configuration.server.allowedOrigins.isEmpty)
    #expect(configuration.database == "/somewhere/.data/accounts.sqlite")
  }

  @Test("started above the examples' folder, the accounts are inside it")
  func defaultFolder() throws {
    let folder = try TemporaryFolder()
    let examples = folder.url.appending(path: "Examples")
    try FileManager.default.createDirectory(at: examples, withIntermediateDirectories: true)
    try Data().write(to: examples.appending(path: "Package.swift"))
    #expect(try settings([:], in: folder.url).database == folder.path("Examples/.data/accounts.sqlite"))
  }

  @Test("settings are taken")
  func taken() throws {
    let configuration = try settings([
      "BACKEND_PORT": "0", "BACKEND_DATABASE": ":memory:",
      "ALLOWED_ORIGINS": "http://localhost:9000, https://app.example,http://[::1]:9000",
    ])
    #expect(configuration.server.port == 0)
    #expect(configuration.database == ":memory:")
    #expect(
      configuration.server.allowedOrigins
        == ["http://localhost:9000", "https://app.example", "http://[::1]:9000"]
    )
  }

  @Test("a port that can't be one is refused", arguments: ["65536", "-1", "http", "80 80", "0x50"])
  func badPort(port: String) {
    let error = #expect(throws: SettingsError.self) { try settings(["BACKEND_PORT": port]) }
    #expect(error?.description == "BACKEND_PORT is '\(port)', but must be a number from 0 to 65535")
  }

  @Test(
    "an origin that can't be one is refused",
    arguments: [
      "*", "null", "localhost:9000", "http://localhost:9000/", "http://a/b", "ftp://a", "http://", "http://a@b",
    ]
  )
  func badOrigin(origin: String) {
    let error = #expect(throws: SettingsError.self) { try settings(["ALLOWED_ORIGINS": origin]) }
    #expect(error?.description.hasPrefix("ALLOWED_ORIGINS contains '\(origin)'") == true)
  }
}
