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
    // Here, and not beside the module, since the tests play a million requests, and the optimiser makes what does so.
    .testTarget(
      name: "ReboundStormTests",
      dependencies: [
        .product(name: "ReboundStorm", package: "Rebound"),
        .product(name: "ReboundLoadBalancing", package: "Rebound"),
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows])),
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
