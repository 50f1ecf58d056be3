// swift-tools-version: 6.1
import PackageDescription

// A package that uses all adapters, as a server does. scripts/test-adapters puts stand-ins in the place of the real packages.
let package = Package(
  name: "Adapters",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(
      name: "Rebound",
      path: "../..",
      traits: [.defaults, "Logging", "Metrics", "Tracing", "OpenAPI", "ServiceLifecycle"]
    ),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.1.0"),
    .package(url: "https://github.com/apple/swift-openapi-runtime.git", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-http-types.git", from: "1.3.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.5.0"),
  ],
  targets: [
    .testTarget(
      name: "AdapterTests",
      dependencies: [
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows])),
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "ReboundTesting", package: "Rebound"),
        .product(name: "ReboundLogging", package: "Rebound"),
        .product(name: "ReboundMetrics", package: "Rebound"),
        .product(name: "ReboundTracing", package: "Rebound"),
        .product(name: "ReboundOpenAPI", package: "Rebound"),
        .product(name: "ReboundServiceLifecycle", package: "Rebound"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)
