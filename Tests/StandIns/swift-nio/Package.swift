// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "swift-nio",
  products: [
    .library(name: "NIOCore", targets: ["NIOCore"]),
    .library(name: "NIOHTTP1", targets: ["NIOHTTP1"]),
    .library(name: "NIOPosix", targets: ["NIOPosix"]),
  ],
  targets: [.target(name: "NIOCore"), .target(name: "NIOHTTP1"), .target(name: "NIOPosix")],
  swiftLanguageModes: [.v6]
)
