// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "swift-service-lifecycle",
  products: [.library(name: "ServiceLifecycle", targets: ["ServiceLifecycle"])],
  targets: [.target(name: "ServiceLifecycle")],
  swiftLanguageModes: [.v6]
)
