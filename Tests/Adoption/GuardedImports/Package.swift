// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "GuardedImports",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  products: [.library(name: "GuardedImports", targets: ["GuardedImports"])],
  dependencies: [.package(name: "Rebound", path: "../../..")],
  targets: [
    .target(
      name: "GuardedImports",
      dependencies: [
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows]))
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)
