import Expectations

#if Redis
  import Rebound
  import Testing

  @testable import ReboundRedis

  @Suite(.needsRedis)
  struct FleetCredentialsTests {
    private struct Token: Codable, Hashable {
      var number: Int
    }

    private struct Unauthorised: Error {}

    private func store(_ fleet: Fleet, lease: Duration = .seconds(60), alone: Bool = true) throws
      -> CredentialStore<Token>
    {
      try fleet.credentials("session", lease: lease, renewsAlone: alone, isSame: ==)
    }

    private func refresher(_ store: CredentialStore<Token>, _ refreshes: Log<Void>) -> TokenRefresher<Token> {
      let refresher = TokenRefresher<Token>(store: store) { request in
        refreshes.write(())
        return .refreshed(Token(number: request.credential.number + 1))
      }
      refresher.signIn(with: Token(number: 1))
      return refresher
    }

    @Test func oneRefreshServesAllRequestsOfAllMembers() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(10, at: server)
      let refreshes = Log<Void>()
      let refreshers = try fleets.map { refresher(try store($0), refreshes) }
      let answers = await withTaskGroup(of: Int?.self) { group in
        for number in 0..<1_000 {
          group.addTask {
            try? await refreshers[number % 10].run(when: { $0 is Unauthorised }) { token in
              guard token.number == 2 else { throw Unauthorised() }
              return token.number
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      expectEqual(answers, [Int?](repeating: 2, count: 1_000))
      expectEqual(refreshes.count, 1)
    }

    @Test func aDeadMemberCostsItsLeaseAndNoMore() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let link = await Link.ready(server.address)
      var take = RedisCommand(
        CredentialScripts.take,
        keys: ["rebound:{test:session}:lease", "rebound:{test:session}:credential"]
      )
      for word in ["dead", "100", "100000"] { take.add(word) }
      await expectEqual(link.send(take), .success(.integer(1)))
      let refreshes = Log<Void>()
      let token = try await refresher(try store(fleet), refreshes).run(when: { $0 is Unauthorised }) { token in
        guard token.number == 2 else { throw Unauthorised() }
        return token
      }
      expectEqual(token, Token(number: 2))
      expectEqual(refreshes.count, 1)
    }

    @Test func aLeaseThatIsGrantedBehindTheBoundIsGivenBack() async throws {
      let server = try RedisServer()
      var settings = FleetSettings.hasty
      // Nothing but the lease is asked for while the server is frozen.
      settings.heartbeat = .seconds(600)
      let fleet = try await Fleet.joined(1, at: server, settings: settings)[0]
      let link = await Link.ready(server.address)
      let credentials = FleetCredentials<Token>(
        "s",
        fleet: fleet,
        lease: .seconds(3_600),
        keptFor: .seconds(3_600),
        renewsAlone: true
      )
      let runs = Log<Void>()
      server.freeze()
      try await credentials.exclusively { runs.write(()) }
      expectEqual(runs.count, 1)
      server.thaw()
      await fleet.until { $0.isJoined }
      // Behind what gives the lease back, on the same connection.
      _ = await fleet.loop.send(RedisCommand("PING"), limit: .seconds(60))
      await expectEqual(
        link.send(RedisCommand("HGET", "rebound:{test:s}:credential", "number")),
        .success(.bytes(Array("1".utf8)))
      )
      await expectEqual(link.send(RedisCommand("EXISTS", "rebound:{test:s}:lease")), .success(.integer(0)))
    }

    @Test func whoComesBackAfterItsLeaseStoresNothing() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let (late, early) = (
        FleetCredentials<Token>(
          "s",
          fleet: fleets[0],
          lease: .milliseconds(50),
          keptFor: .seconds(60),
          renewsAlone: true
        ),
        FleetCredentials<Token>("s", fleet: fleets[1], lease: .seconds(60), keptFor: .seconds(60), renewsAlone: true)
      )
      let failures = Log<any Error>()
      try await late.exclusively {
        do {
          // Waits until the first lease is over.
          try await early.exclusively {
            do { try await early.write(Token(number: 2)) } catch { failures.write(error) }
          }
          try await late.write(Token(number: 3))
        } catch { failures.write(error) }
      }
      expectEqual(failures.entries.map { $0 is LeaseLost }, [true])
      let stored = Log<Token?>()
      try await early.exclusively { stored.write(try? await early.read()) }
      expectEqual(stored.entries, [Token(number: 2)])
    }

    @Test func whoseLeaseTheServerHasForgottenStoresNothingOverTheNextOne() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let link = await Link.ready(server.address)
      let (late, early) = (
        FleetCredentials<Token>("s", fleet: fleets[0], lease: .seconds(60), keptFor: .seconds(60), renewsAlone: true),
        FleetCredentials<Token>("s", fleet: fleets[1], lease: .seconds(60), keptFor: .seconds(60), renewsAlone: true)
      )
      let failures = Log<any Error>()
      try await late.exclusively {
        // Its next lease has the number of this one.
        _ = await link.send(RedisCommand("FLUSHALL"))
        do {
          try await early.exclusively {
            do { try await early.write(Token(number: 2)) } catch { failures.write(error) }
          }
          try await late.write(Token(number: 3))
        } catch { failures.write(error) }
      }
      expectEqual(failures.entries.map { $0 is LeaseLost }, [true])
      let stored = Log<Token?>()
      try await early.exclusively { stored.write(try? await early.read()) }
      expectEqual(stored.entries, [Token(number: 2)])
    }

    @Test func whoGoesAloneInsideOfALeaseGoesWithoutIt() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let alone = try Fleet("test", at: .tcp("127.0.0.1", port: 1), instances: 1)
      let (outer, inner) = (
        FleetCredentials<Token>("o", fleet: fleet, lease: .seconds(60), keptFor: .seconds(60), renewsAlone: true),
        FleetCredentials<Token>("i", fleet: alone, lease: .seconds(60), keptFor: .seconds(60), renewsAlone: true)
      )
      let (read, failures) = (Log<Token?>(), Log<any Error>())
      try await outer.exclusively {
        do {
          try await inner.exclusively {
            do {
              read.write(try await inner.read())
              try await inner.write(Token(number: 2))
            } catch { failures.write(error) }
          }
          try await outer.write(Token(number: 3))
          read.write(try await outer.read())
        } catch { failures.write(error) }
      }
      #expect(failures.entries.isEmpty)
      expectEqual(read.entries, [nil, Token(number: 3)])
    }

    @Test(arguments: [true, false])
    func withoutTheServerItIsAsTheCallerSays(renewsAlone: Bool) async throws {
      let server = try RedisServer()
      server.kill()
      let fleet = try Fleet("test", at: server.address, instances: 2, settings: .patient)
      let refreshes = Log<Void>()
      let refresher = refresher(try store(fleet, alone: renewsAlone), refreshes)
      let token = try? await refresher.run(when: { $0 is Unauthorised }) { token in
        guard token.number == 2 else { throw Unauthorised() }
        return token
      }
      expectEqual(token, renewsAlone ? Token(number: 2) : nil)
      expectEqual(refreshes.count, renewsAlone ? 1 : 0)
      expectEqual(refresher.credential, Token(number: renewsAlone ? 2 : 1))
    }
  }
#endif
