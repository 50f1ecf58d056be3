// swift-tools-version: 6.1
import PackageDescription

// As the article on servers has it, comma and all.
// swift-format-ignore
let package = Package(
  name: "YourPackage",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  dependencies: [
    .package(name: "Rebound", path: "../Rebound", traits: [.defaults, "Curl"]),  // a checkout beside your package
  ],
  targets: [
    .target(name: "YourTarget", dependencies: [.product(name: "ReboundHTTP", package: "Rebound")])
  ]
)
