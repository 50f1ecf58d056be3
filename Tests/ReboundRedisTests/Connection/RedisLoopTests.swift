import Expectations

#if Redis
  import Rebound
  import Testing

  @testable import ReboundRedis

  @Suite(.needsRedis)
  struct RedisLoopTests {
    @Test func answersComeInTheOrderOfTheCommands() async throws {
      let server = try RedisServer()
      let link = await Link.ready(server.address)
      let answers = Log<Result<RedisReply, RedisFailure>>()
      for _ in 0..<10_000 {
        link.loop.post(RedisRequest(RedisCommand("INCR", "counter"), limit: .seconds(60)) { answers.write($0) })
      }
      await answers.until(10_000)
      expectEqual(answers.entries, (1...10_000).map { .success(.integer($0)) })
    }

    @Test func answersHaveTheFormThatTheServerGivesThem() async throws {
      let server = try RedisServer()
      let link = await Link.ready(server.address)
      var command = RedisCommand("SET", "bytes")
      command.add([0, 13, 10, 255])
      await expectEqual(link.send(command), .success(.status("OK")))
      await expectEqual(link.send(RedisCommand("GET", "bytes")), .success(.bytes([0, 13, 10, 255])))
      await expectEqual(link.send(RedisCommand("GET", "nothing")), .success(.missing))
      await expectEqual(
        link.send(RedisCommand("MGET", "nothing", "bytes")),
        .success(.array([.missing, .bytes([0, 13, 10, 255])]))
      )
      let refusal = await link.send(RedisCommand("NONSENSE"))
      #expect(try refusal.get().isError)
      var numbers = RedisCommand("ECHO")
      numbers.add(.min)
      await expectEqual(link.send(numbers), .success(.bytes(Array("-9223372036854775808".utf8))))
    }

    @Test func aScriptThatTheServerHasForgottenIsSentAgain() async throws {
      let server = try RedisServer()
      let script = RedisScript("return {ARGV[1] + 1, #KEYS}")
      let link = await Link.ready(server.address, scripts: [script])
      var call = RedisCommand(script, keys: ["a", "b"])
      call.add(41)
      await expectEqual(link.send(call), .success(.array([.integer(42), .integer(2)])))
      await expectEqual(link.send(RedisCommand("SCRIPT", "FLUSH")), .success(.status("OK")))
      await expectEqual(link.send(call), .success(.array([.integer(42), .integer(2)])))
    }

    @Test func aLostConnectionFailsWhatWaitsAndIsMadeAgain() async throws {
      let server = try RedisServer()
      let link = await Link.ready(server.address)
      server.freeze()
      async let answer = link.send(RedisCommand("PING"))
      server.kill()
      let result = await answer
      #expect(throws: RedisFailure.self) { try result.get() }
      try server.start()
      await link.untilReady(2)
      await expectEqual(link.send(RedisCommand("PING")), .success(.status("PONG")))
    }

    @Test func withoutAConnectionACommandFailsAtOnce() async throws {
      let server = try RedisServer()
      server.kill()
      let link = Link(server.address)
      await link.statuses.until(1)
      await expectEqual(link.send(RedisCommand("PING")), .failure(.disconnected))
    }

    @Test func theRetryPolicySaysHowOftenAConnectionIsTried() async throws {
      let server = try RedisServer()
      server.kill()
      let link = Link(server.address, reconnect: RetryPolicy(clamping: 2, backoff: .constant(.milliseconds(1))))
      await link.statuses.until(3)
      guard case .gaveUp(.connection) = try #require(link.statuses.entries.last) else {
        Issue.record("told \(link.statuses.entries)")
        return
      }
    }

    @Test func aConnectionThatWasMadeAndBringsNonsenseCountsAsOneThatFailed() async throws {
      let server = try RedisServer()
      let proxy = try Proxy(to: server.port)
      let link = Link(proxy.address, reconnect: RetryPolicy(clamping: 2, backoff: .constant(.milliseconds(1))))
      for round in 1...3 {
        await link.statuses.until(2 * round - 1)
        proxy.inject(Array("nonsense\r\n".utf8))
        await link.statuses.until(2 * round)
      }
      guard case .gaveUp(.connection) = link.statuses.entries[5] else {
        Issue.record("told \(link.statuses.entries)")
        return
      }
    }

    @Test func behindAnAnswerTheNextLossIsAFirstOneAgain() async throws {
      let server = try RedisServer()
      let proxy = try Proxy(to: server.port)
      let link = Link(proxy.address, reconnect: RetryPolicy(clamping: 1, backoff: .constant(.milliseconds(1))))
      for round in 1...4 {
        await link.statuses.until(2 * round - 1)
        await expectEqual(link.send(RedisCommand("PING")), .success(.status("PONG")))
        proxy.drop()
        await link.statuses.until(2 * round)
        guard case .lost = link.statuses.entries[2 * round - 1] else {
          Issue.record("told \(link.statuses.entries)")
          return
        }
      }
    }

    @Test func anAnswerBehindTheLimitIsLate() async throws {
      let server = try RedisServer()
      let link = await Link.ready(server.address)
      let late = Log<RedisReply>()
      server.freeze()
      let answer = await link.send(RedisCommand("INCR", "a"), limit: .milliseconds(20)) { late.write($0) }
      expectEqual(answer, .failure(.timedOut(after: .milliseconds(20))))
      server.thaw()
      await late.until(1)
      expectEqual(late.entries, [.integer(1)])
    }

    @Test func aCancelEndsTheWaitAndWhatComesAllTheSameIsLate() async throws {
      let server = try RedisServer()
      let link = await Link.ready(server.address)
      let late = Log<RedisReply>()
      server.freeze()
      let task = Task { [loop = link.loop] in
        await loop.send(RedisCommand("INCR", "a"), limit: .seconds(60), isCancellable: true) { late.write($0) }
      }
      // Before the command is written, or behind it: both are right.
      task.cancel()
      await expectEqual(task.value, .failure(.cancelled))
      server.thaw()
      guard case .success(.integer(let next)) = await link.send(RedisCommand("INCR", "a")) else {
        Issue.record("no answer")
        return
      }
      expectEqual(late.entries, next == 2 ? [.integer(1)] : [])
    }

    @Test func aTaskThatIsCancelledBeforeSendsNothing() async throws {
      let server = try RedisServer()
      let link = await Link.ready(server.address)
      let task = Task { [loop = link.loop] in
        await untilCancelled()
        return await loop.send(RedisCommand("INCR", "a"), limit: .seconds(60), isCancellable: true)
      }
      task.cancel()
      await expectEqual(task.value, .failure(.cancelled))
      await expectEqual(link.send(RedisCommand("INCR", "a")), .success(.integer(1)))
    }

    @Test func aConnectionThatStaysSilentIsGivenUp() async throws {
      let server = try RedisServer()
      let link = Link(server.address, silenceLimit: .milliseconds(50))
      await link.untilReady(1)
      server.freeze()
      let answer = await link.send(RedisCommand("PING"))
      expectEqual(answer, .failure(.timedOut(after: .milliseconds(50))))
      server.thaw()
      await link.untilReady(2)
    }

    @Test func aPasswordOpensTheServer() async throws {
      let server = try RedisServer("--requirepass", "open sesame")
      let shut = Link(server.address)
      await shut.statuses.until(1)
      guard case .lost(.refused(let text)) = try #require(shut.statuses.entries.first) else {
        Issue.record("told \(shut.statuses.entries)")
        return
      }
      #expect(text.hasPrefix("NOAUTH"))
      var address = server.address
      address.password = "open sesame"
      let open = await Link.ready(address)
      await expectEqual(open.send(RedisCommand("PING")), .success(.status("PONG")))
      address.username = "default"
      let named = await Link.ready(address)
      await expectEqual(named.send(RedisCommand("PING")), .success(.status("PONG")))
    }

    @Test(arguments: ["open sesame", String(repeating: "open sesame", count: 30)])
    func aServerThatRepeatsThePasswordIsNotQuoted(password: String) async throws {
      let server = try RedisServer("--rename-command", "AUTH", "")
      var address = server.address
      address.password = password
      let link = Link(address)
      await link.statuses.until(1)
      guard case .lost(.refused(let text)) = try #require(link.statuses.entries.first) else {
        Issue.record("\(link.statuses.entries)")
        return
      }
      #expect(text.hasPrefix("ERR unknown command"))
      #expect(!text.contains("sesame"))
    }

    @Test func noMoreCommandsWaitThanMay() async throws {
      let server = try RedisServer()
      let link = Link(server.address, maxWaiting: 10)
      await link.untilReady(1)
      server.freeze()
      let answers = Log<Result<RedisReply, RedisFailure>>()
      for _ in 0..<12 {
        link.loop.post(RedisRequest(RedisCommand("PING"), limit: .seconds(60)) { answers.write($0) })
      }
      await answers.until(2)
      expectEqual(answers.entries, [.failure(.overloaded(waiting: 10)), .failure(.overloaded(waiting: 10))])
      server.thaw()
      await answers.until(12)
    }

    @Test func aConnectionThatIsClosedFailsWhatWaits() async throws {
      let server = try RedisServer()
      let link = await Link.ready(server.address)
      server.freeze()
      async let answer = link.send(RedisCommand("PING"))
      link.loop.close()
      await expectEqual(answer, .failure(.closed))
      await expectEqual(link.send(RedisCommand("PING")), .failure(.closed))
    }

    @Test func digestsAreThoseOfTheStandard() {
      expectEqual(SHA1.hexadecimalDigest(of: Array("abc".utf8)), Array("a9993e364706816aba3e25717850c26c9cd0d89d".utf8))
      expectEqual(SHA1.hexadecimalDigest(of: []), Array("da39a3ee5e6b4b0d3255bfef95601890afd80709".utf8))
      let long = Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)
      expectEqual(SHA1.hexadecimalDigest(of: long), Array("84983e441c3bd26ebaae4aa1f95129e5e54670f1".utf8))
    }
  }
#endif
