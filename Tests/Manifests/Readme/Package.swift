// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "YourPackage",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  dependencies: [.package(name: "Rebound", path: "../Rebound")],
  targets: [
    .target(
      name: "YourTarget",
      dependencies: [
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows])),
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundLoadBalancing", package: "Rebound"),
        .product(name: "ReboundOutbox", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "ReboundStore", package: "Rebound"),
        .product(name: "ReboundPresentation", package: "Rebound"),
      ]
    ),
    .testTarget(
      name: "YourTargetTests",
      dependencies: [
        "YourTarget",
        .product(name: "ReboundTesting", package: "Rebound"),
        .product(name: "ReboundTestingTraits", package: "Rebound"),
        .product(name: "ReboundHTTPTesting", package: "Rebound"),
        .product(name: "ReboundStoreTesting", package: "Rebound"),
        .product(name: "ReboundStorm", package: "Rebound"),
      ]
    ),
  ]
)
