// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "GettingStarted",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  products: [
    .library(name: "ForecastScreen", targets: ["ForecastScreen"]),
    .library(name: "Thermometers", targets: ["Thermometers"]),
    .library(name: "Forecasts", targets: ["Forecasts"]),
  ],
  dependencies: [.package(name: "Rebound", path: "../../..")],
  targets: [
    .executableTarget(
      name: "forecast",
      dependencies: [
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows])),
      ]
    ),
    .executableTarget(
      name: "forecast-server",
      dependencies: [
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"),
      ]
    ),
    .target(
      name: "ForecastScreen",
      dependencies: [
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "ReboundPresentation", package: "Rebound"),
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows])),
      ]
    ),
    .target(
      name: "Thermometers",
      dependencies: [
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows]))
      ]
    ),
    .target(
      name: "Forecasts",
      dependencies: [
        .product(name: "Rebound", package: "Rebound")
      ]
    ),
    .executableTarget(
      name: "forecast-report",
      dependencies: [
        "Forecasts",
        .product(name: "Rebound", package: "Rebound"),
      ]
    ),
    .testTarget(
      name: "LibraryTests",
      dependencies: [
        "Forecasts", "Thermometers",
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundTesting", package: "Rebound"),
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows])),
      ]
    ),
    .testTarget(
      name: "ForecastTests",
      dependencies: [
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "ReboundTesting", package: "Rebound"),
        .product(name: "ReboundHTTPTesting", package: "Rebound"),
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows])),
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)

// In a manifest of one's own, the trait is named with the dependency. Here, scripts/swift-in says whether this machine has
// the headers.
if Context.environment["REBOUND_TRAITS"]?.split(separator: ",").contains("Curl") ?? false {
  for target in package.targets where ["forecast", "forecast-server"].contains(target.name) {
    target.swiftSettings = [.define("Curl")]
  }
}
