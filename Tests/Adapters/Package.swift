// swift-tools-version: 6.1
import PackageDescription

// A package that uses all adapters, as a server does. scripts/swift-in puts stand-ins in the place of the real packages. It also
// names the traits, by REBOUND_TRAITS: named here, they would make another build of all modules. Redis is one where its headers are.
let traits = (Context.environment["REBOUND_TRAITS"] ?? "").split(separator: ",")

let package = Package(
  name: "Adapters",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Rebound", path: "../.."),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.1.0"),
    .package(url: "https://github.com/apple/swift-openapi-runtime.git", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-http-types.git", from: "1.3.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.5.0"),
    .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.33.1"),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.65.0"),
  ],
  targets: [
    .testTarget(
      name: "AdapterTests",
      dependencies: [
        .product(name: "Combine", package: "Rebound", condition: .when(platforms: [.linux, .android, .windows])),
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundOutbox", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "ReboundRedis", package: "Rebound"),
        .product(name: "ReboundTesting", package: "Rebound"),
        .product(name: "ReboundHTTPTesting", package: "Rebound"),
        .product(name: "ReboundLogging", package: "Rebound"),
        .product(name: "ReboundMetrics", package: "Rebound"),
        .product(name: "ReboundTracing", package: "Rebound"),
        .product(name: "ReboundOpenAPI", package: "Rebound"),
        .product(name: "ReboundServiceLifecycle", package: "Rebound"),
        .product(name: "ReboundAsyncHTTPClient", package: "Rebound"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
        .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      swiftSettings: traits.contains("Redis") ? [.define("Redis")] : []
    )
  ],
  swiftLanguageModes: [.v6]
)
