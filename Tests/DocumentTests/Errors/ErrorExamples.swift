import Foundation
import ReboundTesting
import Testing

/// An error for each row of a module's article "Errors and their words".
struct ErrorExamples: Sendable, CustomTestStringConvertible {
  let module: String
  /// With the first cell of its row.
  let errors: [(row: String, error: any Error)]

  var testDescription: String { module }

  static let all: [ErrorExamples] = {
    let all: [ErrorExamples?] = [
      rebound, outboxes, telemetry, http, store, redis, storm, testing, testingTraits, httpTesting, storeTesting,
    ]
    return all.compactMap { $0 }
  }()

  /// What is named in the examples, and must not be in what people read.
  static let names = ["weather", "order 1", "/orders", "PlaceOrder", "forecast", "api.example"]

  /// The errors of traits that this build does not have.
  static let unbuilt: Set<String> = {
    var names: Set<String> = []
    #if !Curl
      names.formUnion(["CurlError", "InvalidCertificateFile", "InvalidPin", "InvalidProxy"])
    #endif
    #if !Redis
      names.formUnion(["RedisFailure", "LeaseLost"])
    #endif
    return names
  }()

  /// Where the failures of tests are.
  static let location = CodeLocation(
    fileID: "WeatherTests/ForecastTests.swift",
    filePath: "Tests/WeatherTests/ForecastTests.swift",
    line: 12,
    column: 5
  )
}
