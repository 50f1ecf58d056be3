// swift-tools-version: 6.1
import PackageDescription

// A program that uses Combine and nothing of Foundation: what it weighs is what `import Combine` costs.
let package = Package(
  name: "WithoutFoundation",
  dependencies: [.package(name: "Rebound", path: "../..", traits: [])],
  targets: [
    .executableTarget(name: "WithoutFoundation", dependencies: [.product(name: "Combine", package: "Rebound")])
  ],
  swiftLanguageModes: [.v6]
)
