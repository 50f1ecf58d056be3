#if Redis
  import Foundation
  import StreamSupport
  import Testing

  @testable import ReboundRedis

  /// An authority, and what it has signed; the tests that run at the same time share one.
  final class Certificates: Sendable {
    private struct Latest {
      weak var certificates: Certificates?
    }

    private static let latest = Locked(Latest())
    static let openssl: String? = ["/usr/bin/openssl", "/usr/local/bin/openssl"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }

    let folder = FileManager.default.temporaryDirectory.appending(path: "rebound-certificates-\(UUID())").path

    static func shared() throws -> Certificates {
      try latest.withLock { latest in
        if let certificates = latest.certificates { return certificates }
        let certificates = try Certificates()
        latest.certificates = certificates
        return certificates
      }
    }

    private init() throws {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try makeKey("ca")
      try run("req", "-x509", "-key", path("ca.key"), "-days", "2", "-subj", "/CN=Authority", "-out", path("ca.pem"))
      try makeCertificate("server", "subjectAltName=DNS:localhost,DNS:redis.test,IP:127.0.0.1")
      try makeCertificate("other", "subjectAltName=DNS:other.test")
      try makeCertificate("expired", "subjectAltName=IP:127.0.0.1", days: -1)
      try makeCertificate("client", "extendedKeyUsage=clientAuth")
    }

    deinit {
      try? FileManager.default.removeItem(atPath: folder)
    }

    var trust: RedisTLS.Trust { .file(path("ca.pem")) }
    var client: RedisTLS.Certificate { .init(chainFile: path("client.pem"), keyFile: path("client.key")) }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// What a server is started with that has this certificate; on the port of a server without encryption.
    func options(_ name: String = "server", asksClients: Bool = false) -> [String] {
      [
        "--tls-cert-file", path("\(name).pem"), "--tls-key-file", path("\(name).key"), "--tls-ca-cert-file",
        path("ca.pem"),
        "--tls-auth-clients", asksClients ? "yes" : "no",
      ]
    }

    /// - Returns: The path of the same key with a password.
    func lock(_ name: String, with password: String) throws -> String {
      let locked = path("locked-\(name)")
      try run("pkey", "-in", path(name), "-aes256", "-passout", "pass:\(password)", "-out", locked)
      return locked
    }

    private func makeKey(_ name: String) throws {
      try run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path("\(name).key"))
    }

    private func makeCertificate(_ name: String, _ usage: String, days: Int = 2) throws {
      try makeKey(name)
      try run("req", "-new", "-key", path("\(name).key"), "-subj", "/CN=\(name)", "-out", path("\(name).csr"))
      try usage.write(toFile: path("\(name).ext"), atomically: true, encoding: .utf8)
      try run(
        "x509",
        "-req",
        "-in",
        path("\(name).csr"),
        "-CA",
        path("ca.pem"),
        "-CAkey",
        path("ca.key"),
        "-CAcreateserial",
        "-days",
        "\(days)",
        "-extfile",
        path("\(name).ext"),
        "-out",
        path("\(name).pem")
      )
    }

    private func run(_ arguments: String...) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: try #require(Self.openssl))
      process.arguments = arguments
      process.standardError = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      try #require(process.terminationStatus == 0, "openssl \(arguments.joined(separator: " "))")
    }
  }

  extension Trait where Self == ConditionTrait {
    /// The test makes certificates.
    static var needsOpenSSL: Self {
      .enabled(if: Certificates.openssl != nil, "openssl is not installed: scripts/setup redis")
    }
  }
#endif
