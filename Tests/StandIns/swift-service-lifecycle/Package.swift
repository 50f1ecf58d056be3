// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "swift-service-lifecycle",
  products: [
    .library(name: "ServiceLifecycle", targets: ["ServiceLifecycle"]),
    .library(name: "ServiceLifecycleTestKit", targets: ["ServiceLifecycleTestKit"]),
  ],
  targets: [
    .target(name: "ServiceLifecycle"), .target(name: "ServiceLifecycleTestKit", dependencies: ["ServiceLifecycle"]),
  ],
  swiftLanguageModes: [.v6]
)
