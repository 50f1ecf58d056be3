// swift-tools-version: 6.1
import PackageDescription

// As the article on adopting Combine has it, comma and all.
// swift-format-ignore
let package = Package(
  name: "YourPackage",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  dependencies: [
    .package(name: "Rebound", path: "../Rebound", traits: []),
  ],
  targets: [
    .target(
      name: "YourTarget",
      dependencies: [
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows]))
      ]
    )
  ]
)
