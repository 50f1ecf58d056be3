// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "OpenCombineImports",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  products: [.library(name: "OpenCombineImports", targets: ["OpenCombineImports"])],
  // In the place of .package(url: "https://github.com/OpenCombine/OpenCombine.git", …).
  dependencies: [.package(name: "Rebound", path: "../../..")],
  targets: [
    // The name that the sources import; all it holds is one line.
    .target(
      name: "OpenCombine",
      dependencies: [
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows]))
      ]
    ),
    .target(name: "OpenCombineImports", dependencies: ["OpenCombine"]),
  ],
  swiftLanguageModes: [.v6]
)
