// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "swift-http-types",
  products: [.library(name: "HTTPTypes", targets: ["HTTPTypes"])],
  targets: [.target(name: "HTTPTypes")],
  swiftLanguageModes: [.v6]
)
