import Combine
import Expectations
import Testing

@Suite("The contract")
struct ContractTests {
  @Test("Everybody keeps the laws of the family", arguments: Registration.all + Registration.subscribers)
  func laws(_ registration: Registration) {
    for (law, expected) in registration.playedOutcomes {
      let seen = registration.log(of: law)
      let source = departures[registration.name].map { "\(registration.family.name); \($0.why)" }
      expectEqual(
        seen,
        expected,
        """
        \(registration.name) (\(source ?? registration.family.name)), \(law.rawValue): saw '\(seen)', the law is \
        '\(expected)'
        """
      )
    }
  }

  @Test("Every publisher of the module is registered")
  func coverage() {
    let registered = Set(Registration.all.map(\.type))
    expectEqual(builtPublisherTypes.subtracting(registered).sorted(), [], "publishers that nobody registered")
    expectEqual(
      registered.subtracting(builtPublisherTypes).sorted(),
      [],
      "registrations that are no public publishers; if they are, run scripts/list-publishers"
    )
  }

  // Where a registration has no entry, the tests below have nothing to say of it.
  @Test("Nearly everybody has an entry in each table")
  func entries() {
    let everybody = Registration.all + Registration.subscribers
    #expect(everybody.allSatisfy { $0.playedOutcomes.count > 2 })
    #expect(everybody.map(\.playedOutcomes.count).reduce(0, +) > 3000)
    #expect(Registration.traps.count > 50)
    for ending in Ending.allCases {
      #expect(Registration.all.count { $0.isPlayed(to: ending) } > 90, "\(ending)")
    }
    #expect(everybody.count { $0.ownLooks != nil } > 90)
    #expect(Registration.all.count { $0.looksFromAbove != nil && !$0.shownFromAbove().isEmpty } > 75)
  }

  @Test("Every departure belongs to a registration, and departs")
  func departuresAreAlive() {
    for (name, departure) in builtDepartures {
      let everybody = Registration.all + Registration.subscribers
      guard let registration = everybody.first(where: { $0.name == name }) else {
        Issue.record("there is no registration \(name)")
        continue
      }
      for (law, outcome) in departure.outcomes {
        #expect(registration.family.outcomes[law] != outcome, "\(name), \(law.rawValue): that is the family's law")
      }
    }
    let names = (Registration.all + Registration.subscribers).map(\.name)
    expectEqual(Set(names).count, names.count, "names are unique")
  }

  @Test("What Apple's Combine does otherwise is otherwise here")
  func differences() {
    for difference in appleDifferences {
      guard let registration = Registration.all.first(where: { $0.name == difference.name }) else {
        Issue.record("there is no registration \(difference.name)")
        continue
      }
      #expect(
        registration.log(of: difference.law) != registration.expanded(difference.apple),
        "\(difference.name), \(difference.law.rawValue): no difference any more; strike it from the table"
      )
    }
  }

  @Test("Every publisher lets go of its subscriber and its upstreams", arguments: Registration.all, Ending.allCases)
  func release(_ registration: Registration, _ ending: Ending) {
    guard registration.isPlayed(to: ending) else { return }
    let stage = Stage()
    let left = registration.left(on: stage, after: ending)
    expectEqual(
      left,
      registration.mayLeave(after: ending),
      "\(registration.name), after a \(ending): what is still there"
    )
    stage.close()
  }

  @Test(
    "Who keeps the subscription past the end keeps the subscriber, but for those who hold none of their own",
    arguments: Registration.all,
    Ending.allCases
  )
  func keepsSubscriber(_ registration: Registration, _ ending: Ending) {
    guard registration.isPlayed(to: ending), !registration.isEndless || ending == .cancel else { return }
    let stage = Stage()
    expectEqual(
      registration.keepsSubscriber(on: stage, after: ending),
      registration.mayKeepSubscriber,
      "\(registration.name), after a \(ending)"
    )
    stage.close()
  }

  @Test("Each subscriber of a publisher has a stream of its own, unless it is shared", arguments: Registration.all)
  func ownStreams(_ registration: Registration) {
    let arrivals = registration.arrivalsOfTwo()
    expectEqual(arrivals.count, registration.expectedArrivalsOfTwo, "\(registration.name)")
    let identifierCount = registration.hasOneIdentifier ? 2 : arrivals.count
    expectEqual(Set(arrivals).count, identifierCount, "\(registration.name): somebody came twice")
  }

  @Test("A subscription that is a subscriber, too, has one identifier as both", arguments: Registration.all)
  func identifiers(_ registration: Registration) {
    let (below, above) = registration.identifiers()
    if registration.hasOneIdentifier {
      expectEqual(Set(above), Set([below].compactMap(\.self)), "\(registration.name)")
    } else {
      #expect(!above.contains { $0 == below }, "\(registration.name)")
    }
  }

  @Test("Everybody subscribes to its upstreams in a way that can be watched")
  func subscribesVisibly() async {
    final class Register: _Introspection {
      private(set) var count = 0
      func willReceive<P: Publisher, S: Subscriber>(publisher: P, subscriber: S)
      where P.Failure == S.Failure, P.Output == S.Input {
        if publisher is Stage.Upstream || publisher is Stage.FaultlessUpstream { count += 1 }
      }
    }
    // In a process of its own: a watcher sees every stream.
    await #expect(processExitsWith: .success) {
      let register = Register()
      register.enable()
      // What erases is no operator: it attaches to what it hides in silence.
      for registration in Registration.all where registration.name != "eraseToAnyPublisher" {
        let stage = Stage()
        let before = register.count
        let spectator = registration.attach(stage)
        expectEqual(register.count - before, stage.arrivals.count, "\(registration.name)")
        stage.close()
        withExtendedLifetime(spectator) {}
      }
      #expect(register.count > 100, "\(register.count)")
    }
  }

  // Every upstream of a stage hands its subscriber on to another publisher.
  @Test("Watchers are told of each event of a subscriber once, also where it was handed on")
  func tapsOnce() async {
    final class Register: _Introspection {
      // A notifier has the identifier of the subscription that it serves.
      private(set) var beginnings: [[CombineIdentifier]] = []
      func willReceive<S: Subscriber>(subscriber: S, subscription: any Subscription) {
        beginnings.append([subscriber.combineIdentifier, subscription.combineIdentifier])
      }
    }
    // In a process of its own: a watcher sees every stream.
    await #expect(processExitsWith: .success) {
      var count = 0
      for registration in Registration.all {
        let stage = Stage()
        let register = Register()
        register.enable()
        let spectator = registration.attach(stage)
        stage.perform(.subscribe)
        register.disable()
        expectEqual(Set(register.beginnings).count, register.beginnings.count, "\(registration.name)")
        count += register.beginnings.count
        stage.close()
        withExtendedLifetime(spectator) {}
      }
      #expect(count > 200, "\(count)")
    }
  }

  @Test("Everybody shows itself as it should", arguments: Registration.all + Registration.subscribers)
  func looks(_ registration: Registration) {
    guard let looks = registration.ownLooks else { return }
    expectEqual(registration.shown(), looks, "\(registration.name)")
  }

  @Test("Upstreams see the same of everybody, or what the table says", arguments: Registration.all)
  func looksFromAbove(_ registration: Registration) {
    let seen = registration.shownFromAbove()
    guard !seen.isEmpty, let expected = registration.looksFromAbove else { return }
    expectEqual(seen, expected, "\(registration.name)")
  }

  @Test("Publishers leave their description to Swift, but for those of the table", arguments: Registration.all)
  func looksOfPublishers(_ registration: Registration) {
    let stage = Stage()
    expectEqual(registration.looksOfPublisher(stage), publishersThatDescribeThemselves[registration.name])
  }

  // All that trap by a departure, all that are asked for nothing, and for each family and other law one member: an exit
  // test starts a process.
  @Test("What must not happen stops the process, and says so", arguments: Registration.traps)
  func traps(_ trap: Trap) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [trap] in
      _ = Registration.all.first { $0.name == trap.name }?.log(of: trap.law)
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("Combine: '"), "\(trap.name), \(trap.law.rawValue)")
  }
}

extension Registration {
  /// What the tables say of each law that means something here, but for those that stop the process.
  fileprivate var playedOutcomes: [(law: Law, expected: String)] {
    Law.allCases.compactMap { law in
      guard let expected = outcome(of: law), expected != "traps" else { return nil }
      return (law, expected)
    }
  }

  /// Whether it can be brought to an end so.
  ///
  /// What cannot fail stops the process when it is made to; what answers on a thread of its own is looked at by the
  /// tests of its own.
  fileprivate func isPlayed(to ending: Ending) -> Bool {
    !(ending == .failure && without.contains(.failWithoutDemand)) && !without.contains(.delivery)
  }
}
