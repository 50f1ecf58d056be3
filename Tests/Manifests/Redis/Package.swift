// swift-tools-version: 6.1
import PackageDescription

// As the README and the article on servers have it, comma and all.
// swift-format-ignore
let package = Package(
  name: "YourPackage",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  dependencies: [
    .package(name: "Rebound", path: "../Rebound", traits: [.defaults, "Curl", "Redis"]),
  ],
  targets: [
    .target(
      name: "YourTarget",
      dependencies: [
        .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "ReboundRedis", package: "Rebound"),
      ]
    )
  ]
)
