// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "ReboundStorm",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "Rebound", path: "..")],
  targets: [
    .target(
      name: "StormSimulation",
      dependencies: [
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundTesting", package: "Rebound"),
      ]
    ),
    .executableTarget(name: "storm", dependencies: ["StormSimulation"]),
    .testTarget(name: "StormSimulationTests", dependencies: ["StormSimulation"]),
  ],
  swiftLanguageModes: [.v6]
)
