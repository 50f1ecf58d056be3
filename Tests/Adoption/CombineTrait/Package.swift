// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "CombineTrait",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  products: [.library(name: "CombineTrait", targets: ["CombineTrait"])],
  traits: [
    .trait(name: "Publishers", description: "Publishers beside the functions, on a Combine that is built if need be."),
    .default(enabledTraits: ["Publishers"]),
  ],
  dependencies: [.package(name: "Rebound", path: "../../..")],
  targets: [
    .target(
      name: "CombineTrait",
      dependencies: [
        .product(
          name: "Combine",
          package: "Rebound",
          condition: .when(platforms: [.linux, .android, .windows], traits: ["Publishers"])
        )
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)
