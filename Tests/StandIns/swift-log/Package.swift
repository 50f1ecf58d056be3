// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "swift-log",
  products: [.library(name: "Logging", targets: ["Logging"])],
  targets: [.target(name: "Logging")],
  swiftLanguageModes: [.v6]
)
