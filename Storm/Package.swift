// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "Storm",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "Rebound", path: "..")],
  targets: [
    .executableTarget(
      name: "storm",
      dependencies: [
        .product(name: "ReboundStorm", package: "Rebound"),
        .product(name: "ReboundLoadBalancing", package: "Rebound"),
      ]
    ),
    .testTarget(
      name: "StormTests",
      dependencies: [
        "storm",
        .product(name: "ReboundStorm", package: "Rebound"), .product(name: "Rebound", package: "Rebound"),
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)
