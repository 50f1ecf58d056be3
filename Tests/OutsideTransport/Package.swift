// swift-tools-version: 6.1
import PackageDescription

// A transport of somebody else's: what stands here uses only what every user of the package has.
let package = Package(
  name: "OutsideTransport",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11)],
  dependencies: [.package(name: "Rebound", path: "../..")],
  targets: [
    .target(
      name: "OutsideTransport",
      dependencies: [
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"),
      ]
    ),
    .testTarget(
      name: "OutsideTransportTests",
      dependencies: [
        "OutsideTransport",
        .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "ReboundHTTPTesting", package: "Rebound"),
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)
