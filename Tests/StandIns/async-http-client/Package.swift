// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "async-http-client",
  platforms: [.macOS(.v15)],
  products: [.library(name: "AsyncHTTPClient", targets: ["AsyncHTTPClient"])],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.0.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.0.0"),
  ],
  targets: [
    .target(
      name: "AsyncHTTPClient",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)
