// swift-tools-version: 6.1
import PackageDescription

#if canImport(Darwin)
  // Apple's own Combine is there, and a target of that name would shadow it for every target of the build.
  // Set REBOUND_COMBINE=1 to build ours all the same, when cross-compiling from a Mac to another platform.
  let buildsCombine = Context.environment["REBOUND_COMBINE"] == "1"
#else
  let buildsCombine = Context.environment["REBOUND_COMBINE"] != "0"
#endif

/// The platforms without Apple's Combine; everywhere else dependents stand on Apple's.
///
/// Linux alone has been tried. On WASI it does not build, since Dispatch has no port there; WASI is listed so that the compiler says
/// so, and not that there is no Combine.
let withoutAppleCombine: [Platform] = [.linux, .android, .windows, .wasi, .openbsd, .custom("freebsd")]

let combine: [Target.Dependency] =
  buildsCombine ? [.target(name: "Combine", condition: .when(platforms: withoutAppleCombine))] : []

extension String {
  /// What stands between commas.
  var words: [String] { split(separator: ",").map(String.init) }
}

/// What a product of another package adds to a target while a trait is on; a package that no trait asks for is not fetched.
func product(_ name: String, of package: String, with trait: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: [trait]))
}

let package = Package(
  name: "Rebound",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  products: [
    .library(name: "Rebound", targets: ["Rebound"]),
    .library(name: "ReboundLoadBalancing", targets: ["ReboundLoadBalancing"]),
    .library(name: "ReboundOutbox", targets: ["ReboundOutbox"]),
    .library(name: "ReboundTelemetry", targets: ["ReboundTelemetry"]),
    .library(name: "ReboundHTTP", targets: ["ReboundHTTP"]),
    .library(name: "ReboundStore", targets: ["ReboundStore"]),
    .library(name: "ReboundPresentation", targets: ["ReboundPresentation"]),
    .library(name: "ReboundRedis", targets: ["ReboundRedis"]),
    .library(name: "ReboundLogging", targets: ["ReboundLogging"]),
    .library(name: "ReboundMetrics", targets: ["ReboundMetrics"]),
    .library(name: "ReboundTracing", targets: ["ReboundTracing"]),
    .library(name: "ReboundOpenAPI", targets: ["ReboundOpenAPI"]),
    .library(name: "ReboundServiceLifecycle", targets: ["ReboundServiceLifecycle"]),
    .library(name: "ReboundAsyncHTTPClient", targets: ["ReboundAsyncHTTPClient"]),
    .library(name: "ReboundTesting", targets: ["ReboundTesting"]),
    .library(name: "ReboundTestingTraits", targets: ["ReboundTestingTraits"]),
    .library(name: "ReboundHTTPTesting", targets: ["ReboundHTTPTesting"]),
    .library(name: "ReboundStoreTesting", targets: ["ReboundStoreTesting"]),
    .library(name: "ReboundStorm", targets: ["ReboundStorm"]),
  ],
  // REBOUND_TRAITS names traits that are on by default besides, apart by commas: all packages of a checkout that stand on this
  // one then stand on the same build.
  traits: [
    // Without it, and only then, `import Combine` needs no more than Dispatch and the standard library. It is for packages
    // that use the product Combine alone: all others import Foundation themselves.
    .trait(
      name: "Foundation",
      description: "Combine's schedulers RunLoop and OperationQueue, its publishers of timers, notifications and URLs."
    ),
    .trait(name: "Curl", description: "CurlTransport, which needs the headers of libcurl (libcurl4-openssl-dev)."),
    .trait(
      name: "Redis",
      description:
        "ReboundRedis: policies that many processes share. Needs headers (libhiredis-dev, libssl-dev), on Linux."
    ),
    .trait(name: "Logging", description: "ReboundLogging: decisions and calls as lines of swift-log."),
    .trait(name: "Metrics", description: "ReboundMetrics: decisions, calls and gauges as metrics of swift-metrics."),
    .trait(name: "Tracing", description: "ReboundTracing: calls and attempts as spans of swift-distributed-tracing."),
    .trait(name: "OpenAPI", description: "ReboundOpenAPI: policies around clients of swift-openapi-generator."),
    .trait(
      name: "ServiceLifecycle",
      description:
        "ReboundServiceLifecycle: outboxes, shared credentials and fleets as services of swift-service-lifecycle."
    ),
    .trait(name: "AsyncHTTPClient", description: "ReboundAsyncHTTPClient: requests over AsyncHTTPClient and SwiftNIO."),
    .default(enabledTraits: Set(["Foundation"] + (Context.environment["REBOUND_TRAITS"]?.words ?? []))),
  ],
  dependencies: [
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
    .target(name: "StreamSupport"),
    .target(name: "Rebound", dependencies: ["StreamSupport"] + combine),
    .target(name: "ReboundLoadBalancing", dependencies: ["StreamSupport", "Rebound"] + combine),
    .target(name: "ReboundOutbox", dependencies: ["StreamSupport", "Rebound"] + combine),
    .target(name: "ReboundTelemetry", dependencies: ["StreamSupport", "Rebound"] + combine),
    .target(
      name: "ReboundHTTP",
      dependencies: [
        "StreamSupport", "Rebound", "ReboundOutbox", "ReboundTelemetry",
        .target(name: "CCurl", condition: .when(traits: ["Curl"])),
      ] + combine
    ),
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
    .target(
      name: "ReboundRedis",
      dependencies: [
        "StreamSupport", "Rebound", "ReboundOutbox", .target(name: "CHiredis", condition: .when(traits: ["Redis"])),
        .target(name: "COpenSSL", condition: .when(traits: ["Redis"])),
      ] + combine
    ),
    .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
    .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
    .target(
      name: "ReboundLogging",
      dependencies: ["Rebound", "ReboundHTTP", product("Logging", of: "swift-log", with: "Logging")] + combine
    ),
    .target(
      name: "ReboundMetrics",
      dependencies: [
        "Rebound", "ReboundTelemetry", "StreamSupport", product("Metrics", of: "swift-metrics", with: "Metrics"),
      ] + combine
    ),
    .target(
      name: "ReboundTracing",
      dependencies: [
        "Rebound", "ReboundTelemetry", "ReboundHTTP", "StreamSupport",
        product("Tracing", of: "swift-distributed-tracing", with: "Tracing"),
      ] + combine
    ),
    .target(
      name: "ReboundServiceLifecycle",
      dependencies: [
        "Rebound", "ReboundOutbox", .target(name: "ReboundRedis", condition: .when(traits: ["Redis"])),
        product("ServiceLifecycle", of: "swift-service-lifecycle", with: "ServiceLifecycle"),
      ] + combine
    ),
    .target(
      name: "ReboundOpenAPI",
      dependencies: [
        "Rebound", "ReboundHTTP", "StreamSupport",
        product("OpenAPIRuntime", of: "swift-openapi-runtime", with: "OpenAPI"),
        product("HTTPTypes", of: "swift-http-types", with: "OpenAPI"),
      ] + combine
    ),
    .target(
      name: "ReboundAsyncHTTPClient",
      dependencies: [
        "Rebound", "ReboundHTTP",
        product("AsyncHTTPClient", of: "async-http-client", with: "AsyncHTTPClient"),
        product("NIOCore", of: "swift-nio", with: "AsyncHTTPClient"),
        product("NIOHTTP1", of: "swift-nio", with: "AsyncHTTPClient"),
      ] + combine
    ),
    .target(name: "ReboundStore", dependencies: ["StreamSupport", "Rebound"] + combine),
    .target(name: "ReboundPresentation", dependencies: ["StreamSupport", "Rebound"] + combine),
    .target(
      name: "ReboundTesting",
      dependencies: ["StreamSupport", "Rebound", "ReboundOutbox"] + combine
    ),
    // Apart, since it imports Swift Testing, which tests of XCTest need not have.
    .target(name: "ReboundTestingTraits", dependencies: ["StreamSupport", "ReboundTesting"]),
    .target(
      name: "ReboundHTTPTesting",
      dependencies: ["StreamSupport", "Rebound", "ReboundHTTP", "ReboundTesting"] + combine
    ),
    .target(name: "ReboundStoreTesting", dependencies: ["StreamSupport", "ReboundStore", "ReboundTesting"] + combine),
    .target(
      name: "ReboundStorm",
      dependencies: ["StreamSupport", "Rebound", "ReboundLoadBalancing", "ReboundTesting"] + combine
    ),
    // For tests alone: a comparison that compiles faster than that of #expect.
    .target(name: "Expectations", path: "Tests/Expectations"),
    .testTarget(
      name: "StreamSupportTests",
      dependencies: ["Expectations", "StreamSupport", "ReboundTesting"] + combine
    ),
    // What events say is seen in metrics and in lines, too.
    .testTarget(
      name: "ReboundTests",
      dependencies: ["Expectations", "Rebound", "ReboundTelemetry", "ReboundTesting", "StreamSupport"] + combine
    ),
    .testTarget(
      name: "ReboundLoadBalancingTests",
      dependencies: ["Expectations", "ReboundLoadBalancing", "Rebound", "ReboundTesting", "StreamSupport"] + combine
    ),
    .testTarget(
      name: "ReboundOutboxTests",
      dependencies: ["Expectations", "ReboundOutbox", "Rebound", "ReboundTesting", "StreamSupport"] + combine
    ),
    .testTarget(
      name: "ReboundTelemetryTests",
      dependencies: ["Expectations", "ReboundTelemetry", "Rebound", "ReboundTesting", "StreamSupport"] + combine
    ),
    .testTarget(
      name: "ReboundHTTPTests",
      dependencies: [
        "Expectations",
        "ReboundHTTP", "Rebound", "ReboundOutbox", "ReboundTelemetry", "ReboundTesting", "ReboundHTTPTesting",
        "StreamSupport", .target(name: "CCurl", condition: .when(traits: ["Curl"])),
        .target(name: "COpenSSL", condition: .when(traits: ["Curl"])),
      ] + combine,
      // So that Foundation finds TrustingHandle.swift before libcurl; flags of tests reach no dependent.
      linkerSettings: [
        .unsafeFlags(
          ["-Xlinker", "--export-dynamic-symbol=curl_easy_init"],
          .when(platforms: [.linux], traits: ["Curl"])
        )
      ]
    ),
    .testTarget(
      name: "ReboundRedisTests",
      dependencies: ["Expectations", "ReboundRedis", "Rebound", "ReboundOutbox", "ReboundTesting", "StreamSupport"]
        + combine
    ),
    .testTarget(
      name: "ReboundStoreTests",
      dependencies: [
        "Expectations", "ReboundStore", "ReboundStoreTesting", "Rebound", "ReboundTesting", "StreamSupport",
      ] + combine
    ),
    .testTarget(
      name: "ReboundPresentationTests",
      dependencies: ["Expectations", "ReboundPresentation", "Rebound", "ReboundTesting"] + combine
    ),
    .testTarget(
      name: "ReboundTestingTests",
      dependencies: ["Expectations", "ReboundTesting", "Rebound", "StreamSupport"] + combine
    ),
    .testTarget(
      name: "ReboundHTTPTestingTests",
      dependencies: [
        "Expectations",
        "ReboundHTTPTesting", "Rebound", "ReboundTesting", "ReboundHTTP", "ReboundOutbox", "ReboundStore",
        "StreamSupport",
      ] + combine
    ),
    .testTarget(
      name: "ReboundTestingTraitsTests",
      dependencies: ["Expectations", "ReboundTestingTraits", "ReboundTesting"] + combine
    ),
    .testTarget(
      name: "DocumentTests",
      dependencies: [
        "Rebound", "ReboundLoadBalancing", "ReboundOutbox", "ReboundTelemetry", "ReboundHTTP", "ReboundStore",
        "ReboundPresentation", "ReboundRedis", "ReboundStorm", "ReboundTesting", "ReboundHTTPTesting",
        "ReboundStoreTesting", "ReboundTestingTraits", "StreamSupport",
      ] + combine
    ),
    // What documents say of the traits, apart, so that the traits' build need not have all that documents are about.
    .testTarget(
      name: "TraitDocumentTests",
      dependencies: ["Rebound", "ReboundHTTP", "ReboundRedis", "ReboundTesting", "ReboundHTTPTesting"] + combine
    ),
  ],
  swiftLanguageModes: [.v6]
)

if buildsCombine {
  package.products.append(.library(name: "Combine", targets: ["Combine"]))
  package.targets += [
    .target(name: "Combine", dependencies: ["StreamSupport"]),
    .testTarget(name: "CombineTests", dependencies: ["Expectations", "Combine", "ReboundTesting", "StreamSupport"]),
    .testTarget(
      name: "CombineStressTests",
      dependencies: ["Expectations", "Combine", "Rebound", "ReboundTesting", "StreamSupport"]
    ),
    .testTarget(name: "CombineContractTests", dependencies: ["Expectations", "Combine", "ReboundTesting"]),
    // The same files three times: code written for Apple's Combine compiles in both language modes, and where all that says
    // nothing else is the main actor's, as new projects of Xcode 26 have it.
    .testTarget(
      name: "AppleSourceSwift5Tests",
      dependencies: ["Combine"],
      swiftSettings: [.swiftLanguageMode(.v5)]
    ),
    .testTarget(name: "AppleSourceSwift6Tests", dependencies: ["Combine"]),
    .testTarget(
      name: "AppleSourceMainActorTests",
      dependencies: ["Combine"],
      swiftSettings: [
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"), .enableUpcomingFeature("InferIsolatedConformances"),
        // The manifest of 6.1 has no word for it; flags of tests reach no dependent.
        .unsafeFlags(["-default-isolation", "MainActor"]),
      ]
    ),
  ]
}

// REBOUND_TESTS names the test targets to build, apart by commas, and leaves out the others and what only those stand on: for
// work on one room, and for the sanitizers, which are slow. The leak check stands beside the races.
if let wanted = Context.environment["REBOUND_TESTS"]?.words {
  package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
  if buildsCombine, wanted.contains("CombineStressTests") {
    package.targets.append(.executableTarget(name: "LeakCheck", dependencies: ["Combine"], path: "Tests/LeakCheck"))
  }
  if wanted.contains("Fleet") {
    package.targets.append(
      .executableTarget(
        name: "fleet",
        dependencies: ["ReboundRedis", "ReboundOutbox", "Rebound", "StreamSupport"] + combine,
        path: "Fleet"
      )
    )
  }
  package.keep(package.targets.filter { [.test, .executable].contains($0.type) })
}

// Of an optimised build scripts/test-optimised wants the modules, not their tests, which would take longest of all.
if Context.environment["REBOUND_TESTS_UNOPTIMISED"] != nil {
  for target in package.targets where target.type == .test {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Onone"])]
  }
}

extension Package {
  /// Leaves out what these targets do not stand on, unless there are none.
  func keep(_ roots: [Target]) {
    guard !roots.isEmpty else { return }
    let all = Dictionary(uniqueKeysWithValues: targets.map { ($0.name, $0) })
    var kept: Set<String> = []
    var next = roots
    while let target = next.popLast() {
      guard kept.insert(target.name).inserted else { continue }
      next += target.dependencies.compactMap { dependency in
        switch dependency {
        case .targetItem(let name, _), .byNameItem(let name, _): all[name]
        default: nil
        }
      }
    }
    targets.removeAll { !kept.contains($0.name) }
    products.removeAll { !kept.isSuperset(of: ($0 as? Product.Library)?.targets ?? []) }
    // SwiftPM fetches a package that no target names, whatever the traits say.
    let used = targets.flatMap(\.dependencies).compactMap { dependency in
      if case .productItem(_, let package?, _, _) = dependency { package } else { nil }
    }
    dependencies.removeAll { dependency in
      guard case .sourceControl(_, let location, _) = dependency.kind else { return false }
      return !used.contains { location.hasSuffix("/\($0).git") }
    }
  }
}
