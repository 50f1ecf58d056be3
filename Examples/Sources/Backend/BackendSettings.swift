import Foundation
import WebServer

/// A setting that can't be used.
public struct SettingsError: Error, Equatable, CustomStringConvertible, LocalizedError {
  /// The name of the environment variable.
  public let variable: String
  /// What is wrong with it, and what to write instead.
  public let reason: String

  /// The variable and what is wrong with it, as a sentence without its full stop.
  public var description: String { "\(variable) \(reason)" }
  /// The same as ``description``.
  public var errorDescription: String? { description }
}

extension BackendServer.Configuration {
  /// Reads the settings `BACKEND_PORT`, `BACKEND_DATABASE` and `ALLOWED_ORIGINS`.
  ///
  /// - `BACKEND_PORT`: 8080 if absent; 0 for a free one.
  /// - `BACKEND_DATABASE`: a file or `:memory:`. If absent, `.data/accounts.sqlite` in the folder `Examples` of this
  ///   project if the program was started in the folder above it, else in the current folder.
  /// - `ALLOWED_ORIGINS`: origins separated by commas, such as `http://localhost:9000`.
  ///
  /// - Parameters:
  ///   - environment: The environment's variables.
  ///   - folder: The current folder.
  ///   - report: See ``report``.
  /// - Throws: ``SettingsError`` for the first setting that can't be used. An empty variable counts as absent.
  public init(
    environment: [String: String],
    folder: URL,
    report: @escaping @Sendable (String) -> Void
  ) throws(SettingsError) {
    let settings = environment.filter { !$0.value.isEmpty }

    let portSetting = settings["BACKEND_PORT"] ?? "8080"
    guard let port = UInt16(portSetting) else {
      throw SettingsError(
        variable: "BACKEND_PORT",
        reason: "is '\(portSetting)', but must be a number from 0 to 65535"
      )
    }

    let examples = folder.appending(path: "Examples")
    let isAboveExamples = FileManager.default.fileExists(atPath: examples.appending(path: "Package.swift").path)
    let defaultDatabase = (isAboveExamples ? examples : folder).appending(path: ".data/accounts.sqlite").path

    self.init(port: port, database: settings["BACKEND_DATABASE"] ?? defaultDatabase, report: report)

    for origin in (settings["ALLOWED_ORIGINS"] ?? "").split(separator: ",") {
      let origin = origin.trimmingCharacters(in: .whitespaces)
      guard BackendServer.Configuration.isOrigin(origin) else {
        throw SettingsError(
          variable: "ALLOWED_ORIGINS",
          reason: "contains '\(origin)', which isn't an origin such as http://localhost:9000"
        )
      }
      server.allowedOrigins.insert(origin)
    }
  }

  /// Whether `text` is a scheme, a host and perhaps a port, and nothing else.
  private static func isOrigin(_ text: String) -> Bool {
    guard let parts = URLComponents(string: text), let scheme = parts.scheme, let host = parts.encodedHost else {
      return false
    }
    let port = parts.port.map { ":\($0)" } ?? ""
    return ["http", "https"].contains(scheme) && !host.isEmpty && text == "\(scheme)://\(host)\(port)"
  }
}
