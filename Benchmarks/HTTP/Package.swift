// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "ReboundHTTPBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Rebound", path: "../..", traits: [.defaults, "Curl"]),
    .package(name: "ReboundBenchmarks", path: ".."),
  ],
  targets: [
    .executableTarget(
      name: "http-benchmarks",
      dependencies: [
        .product(name: "BenchmarkClients", package: "ReboundBenchmarks"),
        .product(name: "Combine", package: "Rebound"), .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"), .product(name: "ReboundTelemetry", package: "Rebound"),
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)
