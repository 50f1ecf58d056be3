// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "ReboundBenchmarks",
  platforms: [.macOS(.v15)],
  products: [.library(name: "BenchmarkClients", targets: ["BenchmarkClients"])],
  dependencies: [.package(name: "Rebound", path: "..")],
  targets: [
    .target(name: "AllocationCounter", cSettings: [.define("_GNU_SOURCE", .when(platforms: [.linux]))]),
    // What the benchmark of requests, in HTTP, measures over a network.
    .target(
      name: "BenchmarkClients",
      dependencies: [
        .product(name: "Rebound", package: "Rebound"), .product(name: "ReboundHTTP", package: "Rebound"),
      ]
    ),
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        "AllocationCounter", "BenchmarkClients", .product(name: "Combine", package: "Rebound"),
        .product(name: "Rebound", package: "Rebound"), .product(name: "ReboundTelemetry", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "ReboundLoadBalancing", package: "Rebound"),
      ],
      // A function runs where its caller does, so that no row measures a hop from one executor to another.
      swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
    ),
  ],
  swiftLanguageModes: [.v6]
)
