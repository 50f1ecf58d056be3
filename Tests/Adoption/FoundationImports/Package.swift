// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "FoundationImports",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  products: [.library(name: "FoundationImports", targets: ["FoundationImports"])],
  dependencies: [.package(name: "Rebound", path: "../../..")],
  targets: [
    .target(
      name: "FoundationImports",
      dependencies: [
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows]))
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)
