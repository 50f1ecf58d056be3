// swift-tools-version: 6.1
import PackageDescription

// As Documentation/Adapters.md has it: the one that asks for another package.
let package = Package(
  name: "YourPackage",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  dependencies: [.package(name: "Rebound", path: "../Rebound", traits: [.defaults, "Logging"])],
  targets: [
    .target(
      name: "YourTarget",
      dependencies: [
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundLogging", package: "Rebound"),
      ]
    )
  ]
)
