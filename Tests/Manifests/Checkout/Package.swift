// swift-tools-version: 6.1
import PackageDescription

// As the articles on how to begin have it, comma and all.
// swift-format-ignore
let package = Package(
  name: "YourPackage",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  dependencies: [
    .package(name: "Rebound", path: "../Rebound"),  // a checkout beside your package
  ],
  targets: [
    .target(name: "YourTarget", dependencies: [.product(name: "Rebound", package: "Rebound")])
  ]
)
