// swift-tools-version: 6.1
import PackageDescription

// A policy of somebody else's: what stands here uses only what every user of the package has.
let package = Package(
  name: "OutsidePolicy",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11)],
  dependencies: [.package(name: "Rebound", path: "../..")],
  targets: [
    .target(name: "OutsidePolicy", dependencies: [.product(name: "Rebound", package: "Rebound")]),
    .testTarget(
      name: "OutsidePolicyTests",
      dependencies: [
        "OutsidePolicy",
        .product(name: "ReboundTelemetry", package: "Rebound"),
        .product(name: "ReboundTesting", package: "Rebound"),
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows])),
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)
