import Expectations

#if Curl
  import Foundation
  import ReboundHTTP
  import Testing

  @Suite("Certificates over libcurl", .timeLimit(.minutes(10)))
  struct CurlCertificatesTests {
    @Test("an authority in a file vouches for a server, beside the system's or alone", arguments: [false, true])
    func authority(alone: Bool) async throws {
      let server = try await NginxServer.start()
      var configuration = try CurlTransport.Configuration.trustingTests()
      if alone { configuration.certificateAuthorities = try .only(TestCertificates.file("ca.pem")) }
      let log = await CurlTransport(configuration).outcome(of: try server.url())
      expectEqual(log.heads.first?.status, 200)
      expectEqual(log.body, Data("hello".utf8))
    }

    @Test("nobody vouches for it otherwise", arguments: [false, true])
    func untrusted(alone: Bool) async throws {
      let server = try await NginxServer.start()
      var configuration = CurlTransport.Configuration()
      configuration.proxy = .none
      if alone { configuration.certificateAuthorities = try .only(TestCertificates.file("client.pem")) }
      let log = await CurlTransport(configuration).outcome(of: try server.url())
      expectEqual(log.failure?.kind, .tls(.untrusted))
      expectEqual(log.failure?.provesNothingWasSent, true)
    }

    @Test(
      "a certificate that is not good says why",
      arguments: [("other", .wrongHost), ("expired", .expired)] as [(String, TransportFailure.TLSReason)]
    )
    func reasons(certificate: String, reason: TransportFailure.TLSReason) async throws {
      let server = try await NginxServer.start(certificate: certificate)
      let transport = CurlTransport(try .trustingTests())
      let log = await transport.outcome(of: try server.url())
      expectEqual(log.failure?.kind, .tls(reason))
    }

    @Test("a client's certificate is shown to a server that asks for one")
    func clientCertificate() async throws {
      let server = try await NginxServer.start("ssl_verify_client on;")
      var configuration = try CurlTransport.Configuration.trustingTests()
      let without = await CurlTransport(configuration).outcome(of: try server.url())
      expectEqual(without.heads.first?.status, 400)
      configuration.clientCertificate = try .init(
        certificate: try TestCertificates.file("client.pem"),
        key: try TestCertificates.file("client.key"),
        password: "unused, since the key is not encrypted"
      )
      let with = await CurlTransport(configuration).outcome(of: try server.url())
      expectEqual(with.heads.first?.status, 200)
      expectEqual(with.heads.first?.headers["X-Client"], "CN=client")
    }

    @Test("a client's key that belongs to another certificate is a failure of its own")
    func wrongKey() async throws {
      let server = try await NginxServer.start("ssl_verify_client on;")
      var configuration = try CurlTransport.Configuration.trustingTests()
      configuration.clientCertificate = try .init(
        certificate: try TestCertificates.file("client.pem"),
        key: try TestCertificates.file("reserve.key")
      )
      let log = await CurlTransport(configuration).outcome(of: try server.url())
      expectEqual(log.failure?.kind, .tls(.clientCertificate))
    }

    @Test("files that cannot serve are refused at once")
    func files() throws {
      let (nowhere, key) = (URL(filePath: "/nowhere/at/all.pem"), try TestCertificates.file("client.key"))
      #expect(throws: InvalidCertificateFile.unreadable(path: nowhere.path)) {
        try CurlTransport.CertificateAuthorities.system(and: nowhere)
      }
      #expect(throws: InvalidCertificateFile.missing("CERTIFICATE", path: key.path)) {
        try CurlTransport.CertificateAuthorities.only(key)
      }
      let certificate = try TestCertificates.file("client.pem")
      #expect(throws: InvalidCertificateFile.missing("PRIVATE KEY", path: certificate.path)) {
        try CurlTransport.ClientCertificate(certificate: certificate, key: certificate)
      }
    }

    @Test("the password of a key is never shown")
    func redaction() throws {
      var configuration = CurlTransport.Configuration()
      configuration.clientCertificate = try .init(
        certificate: try TestCertificates.file("client.pem"),
        key: try TestCertificates.file("client.key"),
        password: "Sesam"
      )
      var dumped = ""
      dump(configuration, to: &dumped)
      #expect(!"\(configuration) \(String(reflecting: configuration)) \(dumped)".contains("Sesam"))
    }

    @Test("a stopped server leaves nothing behind")
    func cleanUp() async throws {
      let server = try await NginxServer.start()
      let transport = CurlTransport(try .trustingTests())
      #expect(FileManager.default.fileExists(atPath: server.folder.path))
      server.stop()
      #expect(!FileManager.default.fileExists(atPath: server.folder.path))
      let failure = await transport.outcome(of: try server.url()).failure
      expectEqual(failure?.kind, .connect, "\(failure.map { "\($0)" } ?? "an answer")")
    }
  }
#endif
