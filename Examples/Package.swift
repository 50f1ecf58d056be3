// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "ReboundExamples",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "backend-server", targets: ["backend-server"])
  ],
  targets: [
    // MARK: C libraries, from the system's package manager
    .systemLibrary(
      name: "CMicroHTTPD",
      pkgConfig: "libmicrohttpd",
      providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]
    ),
    .systemLibrary(
      name: "CSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
    ),
    .systemLibrary(
      name: "CSodium",
      pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]
    ),

    // MARK: The server that fails on command
    .target(name: "WebServer", dependencies: ["CMicroHTTPD"]),
    .target(name: "Backend", dependencies: ["WebServer", "CSQLite", "CSodium"]),
    .executableTarget(name: "backend-server", dependencies: ["Backend"]),

    // MARK: Tests
    .target(name: "ServerTesting", dependencies: ["WebServer"], path: "Tests/ServerTesting"),
    .testTarget(name: "WebServerTests", dependencies: ["WebServer", "ServerTesting"]),
    .testTarget(name: "BackendTests", dependencies: ["Backend", "backend-server", "WebServer", "ServerTesting"]),
  ],
  swiftLanguageModes: [.v6]
)
