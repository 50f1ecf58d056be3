// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "ReboundBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Rebound", path: "..")],
  targets: [
    .target(name: "AllocationCounter", cSettings: [.define("_GNU_SOURCE", .when(platforms: [.linux]))]),
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        "AllocationCounter", .product(name: "Combine", package: "Rebound"),
        .product(name: "Rebound", package: "Rebound"), .product(name: "ReboundTelemetry", package: "Rebound"),
        .product(name: "ReboundLoadBalancing", package: "Rebound"),
      ],
      // A function runs where its caller does, so that no row measures a hop from one executor to another.
      swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
    ),
  ],
  swiftLanguageModes: [.v6]
)
