// swift-tools-version: 6.1
import PackageDescription

// Packages of somebody else's that were written for Apple's Combine, each in one of the ways in which such packages are
// written: all of them in one program, on Combine of this package.
let package = Package(
  name: "Adoption",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  dependencies: [
    .package(path: "GuardedImports"),
    .package(path: "FoundationImports"),
    .package(path: "OpenCombineImports"),
    .package(path: "CombineTrait"),
    .package(name: "Rebound", path: "../.."),
  ],
  targets: [
    .testTarget(
      name: "AdoptionTests",
      dependencies: [
        "GuardedImports", "FoundationImports", "OpenCombineImports", "CombineTrait",
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows])),
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)
