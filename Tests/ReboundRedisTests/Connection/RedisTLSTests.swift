import Expectations

#if Redis
  import Foundation
  import Rebound
  import Testing

  @testable import ReboundRedis

  @Suite(.needsRedis, .needsOpenSSL)
  struct RedisTLSTests {
    private let certificates: Certificates

    init() throws {
      certificates = try Certificates.shared()
    }

    /// Why a connection is not made.
    private func refusal(_ address: RedisAddress, connectLimit: Duration = .seconds(600)) async throws -> String {
      let link = Link(address, connectLimit: connectLimit)
      await link.statuses.until(1)
      guard case .lost(.connection(let reason)) = try #require(link.statuses.entries.first) else {
        Issue.record("told \(link.statuses.entries)")
        return ""
      }
      return reason
    }

    @Test func answersComeInOrderOverAnEncryptedConnection() async throws {
      let server = try RedisServer(tls: certificates.options())
      let link = await Link.ready(server.address(RedisTLS(trusting: certificates.trust)))
      let answers = Log<Result<RedisReply, RedisFailure>>()
      for _ in 0..<10_000 {
        link.loop.post(RedisRequest(RedisCommand("INCR", "counter"), limit: .seconds(60)) { answers.write($0) })
      }
      await answers.until(10_000)
      expectEqual(answers.entries, (1...10_000).map { .success(.integer($0)) })
    }

    @Test func muchMoreThanASocketTakesIsWrittenAndRead() async throws {
      let server = try RedisServer(tls: certificates.options())
      let link = await Link.ready(server.address(RedisTLS(trusting: certificates.trust)))
      let bytes = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      let echoes = Log<Result<RedisReply, RedisFailure>>()
      for _ in 0..<3 {
        var echo = RedisCommand("ECHO")
        echo.add(bytes)
        link.loop.post(RedisRequest(echo, limit: .seconds(60)) { echoes.write($0) })
      }
      await echoes.until(3)
      expectEqual(echoes.entries, Array(repeating: .success(.bytes(bytes)), count: 3))
    }

    @Test func aFleetIsJoinedOverAnEncryptedConnection() async throws {
      let server = try RedisServer(tls: certificates.options() + ["--requirepass", "open sesame"])
      var address = server.address(RedisTLS(trusting: certificates.trust))
      address.password = "open sesame"
      let fleet = try Fleet("test", at: address, instances: 3, settings: .patient)
      await fleet.until { $0.isJoined }
      expectEqual(fleet.instances, 1)
    }

    @Test func aServerWhoseAuthorityNobodyTrustsIsRefused() async throws {
      let server = try RedisServer(tls: certificates.options())
      let reason = try await refusal(server.address(.standard))
      #expect(reason.hasPrefix("TLS, the certificate: "), "\(reason)")
    }

    @Test func aCertificateForAnotherNameIsRefused() async throws {
      let server = try RedisServer(tls: certificates.options("other"))
      let tls = RedisTLS(trusting: certificates.trust)
      try await expectEqual(refusal(server.address(tls)), "TLS, the certificate: IP address mismatch")
      try await expectEqual(refusal(server.address(tls, host: "localhost")), "TLS, the certificate: hostname mismatch")
    }

    @Test func aCertificateThatHasExpiredIsRefused() async throws {
      let server = try RedisServer(tls: certificates.options("expired"))
      let reason = try await refusal(server.address(RedisTLS(trusting: certificates.trust)))
      expectEqual(reason, "TLS, the certificate: certificate has expired")
    }

    @Test(arguments: ["localhost", "redis.test"]) func theNameThatIsGivenIsTheOneThatCounts(name: String) async throws {
      let server = try RedisServer(tls: certificates.options())
      let link = await Link.ready(server.address(RedisTLS(trusting: certificates.trust, serverName: name)))
      await expectEqual(link.send(RedisCommand("PING")), .success(.status("PONG")))
      let other = RedisTLS(trusting: certificates.trust, serverName: "else.test")
      try await expectEqual(refusal(server.address(other)), "TLS, the certificate: hostname mismatch")
    }

    @Test func aServerThatAsksForACertificateGetsIt() async throws {
      let server = try RedisServer(tls: certificates.options(asksClients: true))
      let tls = RedisTLS(trusting: certificates.trust, certificate: certificates.client)
      let link = await Link.ready(server.address(tls))
      await expectEqual(link.send(RedisCommand("PING")), .success(.status("PONG")))
      let reason = try await refusal(server.address(RedisTLS(trusting: certificates.trust)))
      // The server's word may be lost with the connection, which it ends at once.
      #expect(reason.hasPrefix("TLS, the handshake: ") || reason == "Connection reset by peer", "\(reason)")
    }

    @Test func whatAServerThatDoesNotEncryptNeverAnswersSaysWhatToLookAt() async throws {
      let server = try RedisServer()
      let tls = RedisTLS(trusting: certificates.trust)
      let reason = try await refusal(server.address(tls), connectLimit: .milliseconds(200))
      expectEqual(
        reason,
        "TLS, the handshake: no answer within 0.2 seconds; look whether the server encrypts on this port"
      )
    }

    @Test func aServerThatEncryptsIsNothingForAConnectionThatDoesNot() async throws {
      let server = try RedisServer(tls: certificates.options())
      let reason = try await refusal(.tcp("127.0.0.1", port: server.port))
      #expect(!reason.isEmpty)
    }

    @Test func nonsenseWithoutAnEndOverAnEncryptedConnectionIsGivenUp() async throws {
      let server = Process()
      let port = try RedisServer.freePort()
      server.executableURL = URL(fileURLWithPath: try #require(Certificates.openssl))
      server.arguments = [
        "s_server", "-quiet", "-accept", "\(port)", "-cert", certificates.path("server.pem"), "-key",
        certificates.path("server.key"),
      ]
      server.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/zero"))
      server.standardOutput = FileHandle.nullDevice
      server.standardError = FileHandle.nullDevice
      try server.run()
      defer {
        // It inherits that a thread of a test run lets no other signal through.
        kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
      }
      let link = Link(.tcp("127.0.0.1", port: port, tls: RedisTLS(trusting: certificates.trust)))
      // Until it listens, connections are refused.
      var isGivenUp = false
      while !isGivenUp {
        await link.statuses.until(link.statuses.count + 1)
        isGivenUp = link.statuses.entries.contains {
          if case .lost(.connection(let reason)) = $0 { reason.hasPrefix("Protocol error") } else { false }
        }
      }
    }

    @Test func aFileThatIsNotThereIsNamed() async throws {
      let server = try RedisServer(tls: certificates.options())
      let nowhere = certificates.path("nowhere.pem")
      #expect(try await refusal(server.address(RedisTLS(trusting: .file(nowhere)))).hasPrefix("TLS, \(nowhere): "))
      let client = RedisTLS.Certificate(chainFile: certificates.path("client.pem"), keyFile: nowhere)
      let tls = RedisTLS(trusting: certificates.trust, certificate: client)
      #expect(try await refusal(server.address(tls)).hasPrefix("TLS, \(nowhere): "))
    }

    @Test func aKeyWithAPasswordIsRefusedAndNobodyIsAskedForThat() async {
      // Seen before: the password was read from the standard input, and the connection made.
      await #expect(processExitsWith: .success) {
        let tests = try RedisTLSTests()
        let key = try tests.certificates.lock("client.key", with: "open sesame")
        // Nobody sits at a terminal.
        setsid()
        let input = Pipe()
        try input.fileHandleForWriting.write(contentsOf: Data("open sesame\n".utf8))
        dup2(input.fileHandleForReading.fileDescriptor, 0)
        let server = try RedisServer(tls: tests.certificates.options(asksClients: true))
        let client = RedisTLS.Certificate(chainFile: tests.certificates.path("client.pem"), keyFile: key)
        let tls = RedisTLS(trusting: tests.certificates.trust, certificate: client)
        let reason = try await tests.refusal(server.address(tls))
        try #require(reason.hasPrefix("TLS, \(key): "), "\(reason)")
      }
    }

    @Test func anEndWithoutAFarewellIsNoneOfTheHandshake() async throws {
      let server = try RedisServer(tls: certificates.options())
      let proxy = try Proxy(to: server.port)
      let link = await Link.ready(.tcp("127.0.0.1", port: proxy.port, tls: RedisTLS(trusting: certificates.trust)))
      proxy.drop()
      await link.statuses.until(2)
      guard case .lost(let reason) = link.statuses.entries[1] else {
        Issue.record("told \(link.statuses.entries)")
        return
      }
      expectEqual(reason, .connection("the server has closed it"))
    }

    @Test func aLostConnectionIsMadeAgain() async throws {
      let server = try RedisServer(tls: certificates.options())
      let link = await Link.ready(server.address(RedisTLS(trusting: certificates.trust)))
      server.kill()
      await link.statuses.until(2)
      try server.start()
      await link.untilReady(2)
      await expectEqual(link.send(RedisCommand("PING")), .success(.status("PONG")))
    }
  }
#endif
