// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "ReboundBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Rebound", path: "..")],
  targets: [
    .executableTarget(name: "benchmarks", dependencies: [.product(name: "Combine", package: "Rebound")])
  ],
  swiftLanguageModes: [.v6]
)
