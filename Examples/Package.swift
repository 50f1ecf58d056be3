// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "ReboundExamples",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "backend-server", targets: ["backend-server"]),
    .executable(name: "app-server", targets: ["app-server"]),
    .library(name: "Animals", targets: ["Animals"]),
    .library(name: "SignUp", targets: ["SignUp"]),
    .library(name: "Weather", targets: ["Weather"]),
  ],
  dependencies: [.package(name: "Rebound", path: "..")],
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
    .systemLibrary(
      name: "CICU",
      pkgConfig: "icu-i18n",
      providers: [.apt(["libicu-dev"]), .brew(["icu4c"])]
    ),

    // MARK: The server that fails on command
    .target(name: "WebServer", dependencies: ["CMicroHTTPD"]),
    .target(name: "CSkeleton", dependencies: ["CICU"]),
    .target(name: "Signature", dependencies: ["CSodium"]),
    .target(name: "Backend", dependencies: ["WebServer", "CSkeleton", "CSQLite", "CSodium", "Signature"]),
    .executableTarget(name: "backend-server", dependencies: ["Backend"]),

    // MARK: The apps
    .target(
      name: "Attempts",
      dependencies: [
        .product(name: "Combine", package: "Rebound"), .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"),
      ]
    ),
    .target(
      name: "SignUp",
      dependencies: [
        "Attempts", .product(name: "Combine", package: "Rebound"), .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"),
      ]
    ),
    .target(
      name: "Animals",
      dependencies: [
        "Attempts", .product(name: "Combine", package: "Rebound"), .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"), .product(name: "ReboundStore", package: "Rebound"),
      ]
    ),
    .target(
      name: "Weather",
      dependencies: [
        "Attempts", .product(name: "Combine", package: "Rebound"), .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"), .product(name: "ReboundPresentation", package: "Rebound"),
      ]
    ),
    .target(
      name: "Signing",
      dependencies: [
        "Signature", .product(name: "Combine", package: "Rebound"), .product(name: "ReboundHTTP", package: "Rebound"),
      ]
    ),
    .target(
      name: "App",
      dependencies: [
        "Animals", "Attempts", "SignUp", "Weather", "WebServer", .product(name: "Combine", package: "Rebound"),
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"), .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "ReboundPresentation", package: "Rebound"),
        .product(name: "ReboundStore", package: "Rebound"),
        // Writes what the inspector saves.
        .product(name: "ReboundHTTPTesting", package: "Rebound"),
      ],
      resources: [.copy("Page")]
    ),
    .executableTarget(name: "app-server", dependencies: ["App", "WebServer"]),

    // MARK: Tests
    .target(name: "ServerTesting", dependencies: ["WebServer"], path: "Tests/ServerTesting"),
    .testTarget(name: "WebServerTests", dependencies: ["WebServer", "ServerTesting"]),
    .testTarget(name: "BackendTests", dependencies: ["Backend", "backend-server", "WebServer", "ServerTesting"]),
    .testTarget(
      name: "AttemptsTests",
      dependencies: [
        "Attempts", .product(name: "Combine", package: "Rebound"), .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"),
        .product(name: "ReboundTesting", package: "Rebound"),
      ]
    ),
    .testTarget(
      name: "SignUpTests",
      dependencies: [
        "Attempts", "Backend", "ServerTesting", "SignUp", .product(name: "Combine", package: "Rebound"),
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"), .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "ReboundTesting", package: "Rebound"),
        .product(name: "ReboundHTTPTesting", package: "Rebound"),
      ]
    ),
    .testTarget(
      name: "AnimalsTests",
      dependencies: [
        "Animals", "Backend", "ServerTesting", .product(name: "Combine", package: "Rebound"),
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"), .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "ReboundStore", package: "Rebound"), .product(name: "ReboundStoreTesting", package: "Rebound"),
        .product(name: "ReboundHTTPTesting", package: "Rebound"),
      ]
    ),
    .testTarget(
      name: "WeatherTests",
      dependencies: [
        "Attempts", "Backend", "ServerTesting", "Weather", .product(name: "Combine", package: "Rebound"),
        .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"), .product(name: "ReboundHTTP", package: "Rebound"),
        .product(name: "ReboundPresentation", package: "Rebound"),
        .product(name: "ReboundHTTPTesting", package: "Rebound"),
        .product(name: "ReboundTesting", package: "Rebound"),
      ]
    ),
    .testTarget(
      name: "SigningTests",
      dependencies: [
        "Backend", "ServerTesting", "Signature", "Signing", .product(name: "Combine", package: "Rebound"),
        .product(name: "Rebound", package: "Rebound"), .product(name: "ReboundHTTP", package: "Rebound"),
      ]
    ),
    .testTarget(
      name: "AppTests",
      dependencies: [
        "Animals", "App", "Attempts", "Backend", "SignUp", "Weather", "WebServer", "ServerTesting",
        .product(name: "Combine", package: "Rebound"), .product(name: "Rebound", package: "Rebound"),
        .product(name: "ReboundTelemetry", package: "Rebound"),
        .product(name: "ReboundHTTP", package: "Rebound"), .product(name: "ReboundHTTPTesting", package: "Rebound"),
      ]
    ),
    .testTarget(
      name: "AppleClientTests",
      dependencies: ["Backend", .product(name: "Combine", package: "Rebound")]
    ),
  ],
  swiftLanguageModes: [.v6]
)
