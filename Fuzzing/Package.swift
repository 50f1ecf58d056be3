// swift-tools-version: 6.1
import PackageDescription

// Built by scripts/fuzz: the driver, and the coverage that guides it, come with flags that a manifest may not set for
// its dependencies.
let package = Package(
  name: "ReboundFuzzing",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "Rebound", path: "..", traits: [.defaults, "Curl"])],
  targets: [
    .executableTarget(
      name: "fuzz",
      dependencies: [
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundOutbox", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "ReboundTesting", package: "Rebound"),
        .product(name: "ReboundHTTPTesting", package: "Rebound"),
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)
