import Combine
import Expectations
import Rebound
import ReboundLoadBalancing
import ReboundTesting
import StreamSupport
import Testing

@Suite("A load balancer")
struct LoadBalancerTests {
  private typealias Answer = PassthroughSubject<Int, any Error>

  private let scheduler = TestScheduler()
  private var time: TimeSource { scheduler.time }

  private func balancer(
    among replicas: [String] = ["a", "b", "c"],
    policy: LoadBalancerPolicy = .standard,
    failingWhen speaksAgainst: @escaping @Sendable (any Error) -> Bool = { _ in true },
    probe: LoadBalancer<String>.Probe? = nil
  ) throws -> LoadBalancer<String> {
    let random = RandomSource.seeded(7)
    return try LoadBalancer(
      "weather",
      among: replicas,
      policy: policy,
      random: random,
      failingWhen: speaksAgainst,
      probe: probe
    )
  }

  /// Makes an attempt of a new call that is answered after so long, or fails.
  @discardableResult
  private func attempt(
    _ balancer: LoadBalancer<String>,
    latency: (String) -> VirtualTime.Stride = { _ in .zero },
    fails: (String) -> Bool = { _ in false }
  ) -> String {
    var picked = ""
    let answer = Answer()
    let attempt = balancer.makeCall().publisher(time: time) { replica in
      picked = replica
      return answer
    }
    attempt.subscribe(Recorder<Int, any Error>())
    scheduler.advance(by: latency(picked))
    answer.send(completion: fails(picked) ? .failure(TestFailure.transient) : .finished)
    return picked
  }

  private func picks(
    _ balancer: LoadBalancer<String>,
    count: Int,
    latency: (String) -> VirtualTime.Stride = { _ in .zero },
    fails: (String) -> Bool = { _ in false }
  ) -> [String: Int] {
    var picks: [String: Int] = [:]
    for _ in 0..<count { picks[attempt(balancer, latency: latency, fails: fails), default: 0] += 1 }
    return picks
  }

  // MARK: What it goes by

  @Test func goesToAllAlikeWhileNothingTellsThemApart() throws {
    let picks = try picks(balancer(), count: 300)
    #expect(picks.count == 3 && picks.values.allSatisfy { (70...130).contains($0) }, "\(picks)")
  }

  @Test func goesWhereTheFewestRequestsAreInFlight() throws {
    let balancer = try balancer()
    var picked: [String] = []
    let open = Answer()
    var recorders: [Recorder<Int, any Error>] = []
    for _ in 0..<9 {
      let recorder = Recorder<Int, any Error>()
      recorders.append(recorder)
      let attempt = balancer.makeCall().publisher(time: time) { replica in
        picked.append(replica)
        return open
      }
      attempt.subscribe(recorder)
    }
    expectEqual(balancer.snapshots(on: time).map(\.requestsInFlight), [3, 3, 3], "\(picked)")
    open.send(completion: .finished)
    expectEqual(balancer.snapshots(on: time).map(\.requestsInFlight), [0, 0, 0])
  }

  @Test func avoidsASlowReplicaAndTriesItAgainOnceItsLatencyIsForgotten() throws {
    let balancer = try balancer()
    let slow = { (replica: String) -> VirtualTime.Stride in .milliseconds(replica == "b" ? 2_000 : 20) }
    _ = picks(balancer, count: 10, latency: slow)
    #expect(picks(balancer, count: 100, latency: slow)["b"] == nil)
    scheduler.advance(by: .seconds(60))
    #expect(try #require(picks(balancer, count: 100, latency: slow)["b"]) <= 3)
    scheduler.advance(by: .seconds(60))
    #expect(picks(balancer, count: 100, latency: { _ in .milliseconds(20) })["b"] != nil)
  }

  @Test func avoidsAReplicaThatFailsAtOnceHoweverQuickItIs() throws {
    let balancer = try balancer()
    let latency = { (replica: String) -> VirtualTime.Stride in replica == "b" ? .zero : .milliseconds(50) }
    _ = picks(balancer, count: 10, latency: latency, fails: { $0 == "b" })
    #expect(picks(balancer, count: 200, latency: latency, fails: { $0 == "b" })["b"] == nil)
    scheduler.advance(by: .seconds(120))
    #expect(try #require(picks(balancer, count: 200, latency: latency)["b"]) > 30)
  }

  @Test func doesNotHoldAgainstAReplicaWhatDoesNotSpeakAgainstIt() throws {
    let balancer = try balancer(failingWhen: { ($0 as? TestFailure) != .transient })
    let found = picks(balancer, count: 300, fails: { $0 == "b" })
    #expect(try #require(found["b"]) > 70, "\(found)")
  }

  @Test func takesWhatWasCancelledForAsSlowAsItWasByThen() throws {
    let balancer = try balancer(among: ["a", "b"])
    var picked = ""
    let attempt = balancer.makeCall().publisher(time: time) { replica in
      picked = replica
      return Answer()
    }
    let subscription = attempt.sink { _ in
    } receiveValue: { _ in
    }
    scheduler.advance(by: .seconds(1))
    subscription.cancel()
    let snapshot = try #require(balancer.snapshots(on: time).first { $0.replica == picked })
    #expect(snapshot.requestsInFlight == 0 && snapshot.latency == .seconds(1))
    #expect(picks(balancer, count: 20)[picked] == nil)
  }

  @Test func doesNotLearnFromWhatWasCancelledSoonerThanItsLatency() throws {
    let latencies = try [false, true].map { cancelsSoon in
      let (balancer, start) = (try balancer(among: ["a"]), scheduler.elapsed)
      attempt(balancer, latency: { _ in .seconds(1) })
      scheduler.advance(by: .seconds(5))
      let recorder = Recorder<Int, any Error>()
      if cancelsSoon { balancer.makeCall().publisher(time: time) { _ in Answer() }.subscribe(recorder) }
      scheduler.advance(by: .milliseconds(100))
      recorder.cancel()
      expectEqual(scheduler.elapsed - start, .milliseconds(6_100))
      return balancer.snapshots(on: time).map(\.latency)
    }
    expectEqual(latencies[0], latencies[1])
    #expect(latencies[0] != [.zero])
  }

  @Test func picksAmongAFewOfManyAndStillSpreads() throws {
    let replicas = (0..<200).map { "\($0)" }
    let picks = try picks(balancer(among: replicas), count: 2_000)
    #expect(picks.count > 180)
  }

  // MARK: Calls of several attempts

  @Test func sendsNoRetryWhereAnAttemptHasBeenWhileThereIsAnother() async throws {
    let balancer = try balancer()
    let retry = try RetryPolicy<any Error>(maxRetries: 3, backoff: .immediate)
    let pipeline = try Pipeline<Int>("weather", time: time) { Retry(retry) }
    for _ in 0..<20 {
      var picked: [String] = []
      pipeline.publisher(among: balancer) { replica -> Fail<Int, any Error> in
        picked.append(replica)
        return Fail(error: TestFailure.transient)
      }
      .subscribe(Recorder<Int, any Error>())
      #expect(Set(picked.prefix(3)).count == 3 && picked.count == 4)
      #expect(picked.last != picked.dropLast().last)

      let places = Log<String>()
      await #expect(throws: TestFailure.transient) {
        try await pipeline.run(among: balancer) { replica in
          places.write(replica)
          throw TestFailure.transient
        }
      }
      #expect(Set(places.entries.prefix(3)).count == 3 && places.entries.count == 4)
    }
    expectEqual(balancer.snapshots(on: time).map(\.requestsInFlight), [0, 0, 0])
  }

  @Test func sendsARetryElsewhereThoughTheReplicaOfTheFirstAttemptIsTheBest() throws {
    let balancer = try balancer(failingWhen: { _ in false })
    _ = picks(balancer, count: 20, latency: { $0 == "b" ? .milliseconds(1) : .milliseconds(500) })
    let pipeline = try Pipeline<Int>("weather", time: time) {
      Retry(RetryPolicy<any Error>(clamping: 1, backoff: .immediate))
    }
    var picked: [String] = []
    pipeline.publisher(among: balancer) { replica -> Fail<Int, any Error> in
      picked.append(replica)
      return Fail(error: TestFailure.transient)
    }
    .subscribe(Recorder<Int, any Error>())
    #expect(picked.count == 2 && picked.first == "b" && picked.last != "b", "\(picked)")
  }

  @Test func sendsAnAttemptElsewhereThoughAnotherOfTheSameCallHasCutIn() throws {
    let balancer = try balancer(failingWhen: { _ in false })
    _ = picks(balancer, count: 20, latency: { $0 == "b" ? .milliseconds(1) : .milliseconds(500) })
    let (call, time, picked, reads) = (balancer.makeCall(), time, Log<String>(), Log<Void>())
    @Sendable func attempt(on time: TimeSource) {
      call.publisher(time: time) { replica -> Fail<Int, any Error> in
        picked.write(replica)
        return Fail(error: TestFailure.transient)
      }
      .subscribe(Recorder<Int, any Error>())
    }
    // As another thread might do it, between a look at where the call has been and the pick.
    let interrupted = TimeSource(
      now: {
        if reads.number(()) == 1 { attempt(on: time) }
        return time.now
      },
      after: { time.after($0, $1) }
    )
    attempt(on: interrupted)
    #expect(picked.count == 2 && picked.entries.first == "b" && picked.entries.last != "b", "\(picked.entries)")
  }

  @Test func sendsAHedgeToAnotherReplica() throws {
    let balancer = try balancer(among: ["a", "b"])
    let hedge = try HedgePolicy<any Error>(delay: .after(.seconds(1)))
    let pipeline = try Pipeline<Int>("weather", time: time) { Hedge(hedge) }
    var answers: [(replica: String, answer: Answer)] = []
    let recorder = Recorder<Int, any Error>()
    pipeline.publisher(among: balancer) { replica in
      answers.append((replica, Answer()))
      return answers[answers.count - 1].answer
    }
    .subscribe(recorder)
    scheduler.advance(by: .seconds(1))
    try #require(answers.count == 2)
    #expect(answers[0].replica != answers[1].replica)
    answers[1].answer.send(1)
    answers[1].answer.send(completion: .finished)
    expectEqual(recorder.values, [1])
    let snapshots = balancer.snapshots(on: time)
    expectEqual(snapshots.map(\.requestsInFlight), [0, 0])
    expectEqual(snapshots.first { $0.replica == answers[0].replica }?.latency, .seconds(1))
  }

  @Test func measuresAnAsynchronousAttemptAndGivesItsPlaceBackHoweverItEnds() async throws {
    let balancer = try balancer(among: ["a"])
    let scheduler = scheduler
    let answer = try await balancer.makeCall().run(time: time) { replica in
      expectEqual(balancer.snapshots(on: scheduler.time).map(\.requestsInFlight), [1])
      scheduler.advance(by: .milliseconds(250))
      return replica
    }
    expectEqual(answer, "a")
    expectEqual(balancer.snapshots(on: time).map(\.latency), [.milliseconds(250)])
    let task = Task {
      try await balancer.makeCall().run(time: scheduler.time) { _ in
        withUnsafeCurrentTask { $0?.cancel() }
        try Task.checkCancellation()
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    expectEqual(balancer.snapshots(on: time).map(\.requestsInFlight), [0])
  }

  @Test func countsNoAttemptThatIsCancelledBeforeItBegins() throws {
    let balancer = try balancer()
    for _ in 0..<5 {
      let subscriber = LeavingSubscriber<Int, any Error>()
      balancer.makeCall().publisher(time: time) { _ in Answer() }.subscribe(subscriber)
      #expect(subscriber.isSubscribed)
    }
    expectEqual(balancer.snapshots(on: time).map(\.requestsInFlight), [0, 0, 0])
  }

  // MARK: Replicas that come and go

  @Test func refusesToHaveNoReplicaOrOneTwice() throws {
    #expect(throws: InvalidPolicy.self) { try self.balancer(among: []) }
    #expect(throws: InvalidPolicy.self) { try self.balancer(among: ["a", "a"]) }
    let balancer = try balancer()
    #expect(throws: InvalidPolicy.self) { try balancer.replaceReplicas(by: []) }
    expectEqual(balancer.replicas, ["a", "b", "c"])
  }

  @Test func goesToNewReplicasAtOnceAndLetsAttemptsAtOldOnesEnd() throws {
    let balancer = try balancer(among: ["a", "b"])
    let open = Answer()
    let recorder = Recorder<Int, any Error>()
    balancer.makeCall().publisher(time: time) { _ in open }.subscribe(recorder)
    try balancer.replaceReplicas(by: ["c"])
    expectEqual(picks(balancer, count: 10), ["c": 10])
    open.send(1)
    open.send(completion: .finished)
    expectEqual(recorder.values, [1])
    expectEqual(balancer.snapshots(on: time).map(\.replica), ["c"])
    expectEqual(balancer.snapshots(on: time).map(\.requestsInFlight), [0])
  }

  @Test func staysWithTheOnlyReplicaHoweverOftenItFails() throws {
    let balancer = try balancer(among: ["a"])
    expectEqual(picks(balancer, count: 20, fails: { _ in true }), ["a": 20])
  }

  @Test func letsAnAttemptRunAtAReplicaThatGoesWhileItIsBeingMade() throws {
    let balancer = try balancer(among: ["a"])
    let open = Answer()
    let recorder = Recorder<Int, any Error>()
    let attempt = balancer.makeCall().publisher(time: time) { _ in
      try? balancer.replaceReplicas(by: ["b"])
      return open
    }
    attempt.subscribe(recorder)
    expectEqual(balancer.snapshots(on: time).map(\.requestsInFlight), [0])
    open.send(1)
    open.send(completion: .finished)
    expectEqual(recorder.values, [1])
    expectEqual(balancer.snapshots(on: time).map(\.requestsInFlight), [0])
  }

  // MARK: Probes

  /// Loads that are told at once.
  private func probed(_ loads: [String: ReplicaLoad]) throws -> LoadBalancer<String> {
    let probe: LoadBalancer<String>.Probe = { replica in
      Just(loads[replica]).compactMap(\.self).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }
    return try balancer(among: loads.keys.sorted(), probe: probe)
  }

  @Test func goesByWhatReplicasSayWhenTheyAreProbed() throws {
    var loads = Dictionary(
      uniqueKeysWithValues: (0..<10).map { ("\($0)", ReplicaLoad(requestsInFlight: 2, latency: .milliseconds(90))) }
    )
    loads["3"] = ReplicaLoad(requestsInFlight: 40, latency: .milliseconds(1))
    loads["7"] = ReplicaLoad(requestsInFlight: 2, latency: .milliseconds(20))
    let balancer = try probed(loads)
    _ = picks(balancer, count: 20)
    let found = picks(balancer, count: 300)
    #expect(found["3"] == nil, "\(found)")
    expectEqual(found.max { $0.value < $1.value }?.key, "7", "\(found)")
  }

  @Test func probesUnderNoDeadlineOfACall() throws {
    let seen = Log<Bool>()
    let balancer = try balancer(probe: { _ in
      Deferred { () -> Empty<ReplicaLoad, any Error> in
        seen.write(Deadline.current == nil)
        return Empty(completeImmediately: false)
      }
      .eraseToAnyPublisher()
    })
    Deadline.$current.withValue(Deadline(in: .milliseconds(100), on: scheduler.time)) { attempt(balancer) }
    #expect(!seen.entries.isEmpty && !seen.entries.contains(false))
  }

  @Test func takesAnyNumberThatAReplicaSays() throws {
    let most = ReplicaLoad(requestsInFlight: .max, latency: .zero)
    let least = ReplicaLoad(requestsInFlight: .min, latency: .zero)
    let found = try picks(probed(["a": most, "b": most]), count: 20)
    expectEqual(found.count, 2, "\(found)")
    let balancer = try probed(["a": most, "b": least])
    _ = picks(balancer, count: 20)
    expectEqual(picks(balancer, count: 20), ["b": 20])
  }

  @Test func asksAFewReplicasForEachAttemptAndNoneTwice() throws {
    let asked = Log<String>()
    let policy = try LoadBalancerPolicy(probesPerAttempt: 2.5)
    let balancer = try balancer(
      among: (0..<100).map { "\($0)" },
      policy: policy,
      probe: { replica in
        asked.write(replica)
        return Answer().map { _ in ReplicaLoad(requestsInFlight: 0, latency: .zero) }.eraseToAnyPublisher()
      }
    )
    attempt(balancer)
    expectEqual(asked.entries.count, 2)
    for _ in 0..<200 { attempt(balancer) }
    // Nobody has answered, so nobody is asked again before a second has passed.
    expectEqual(Set(asked.entries).count, asked.entries.count)
    scheduler.advance(by: .seconds(2))
    let before = asked.entries.count
    attempt(balancer)
    #expect(asked.entries.count > before)
  }

  @Test func doesNotGoByAnswersThatAreTooOld() throws {
    let isSilent = Locked(false)
    let probe: LoadBalancer<String>.Probe = { replica in
      if isSilent.withLock({ $0 }) { return Empty(completeImmediately: false).eraseToAnyPublisher() }
      let load = ReplicaLoad(requestsInFlight: replica == "a" ? 0 : 200, latency: .milliseconds(50))
      return Just(load).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }
    let balancer = try balancer(probe: probe)
    _ = picks(balancer, count: 20)
    isSilent.withLock { $0 = true }
    scheduler.advance(by: .milliseconds(1_001))
    let blind = picks(balancer, count: 90)
    #expect(blind.count == 3 && blind.values.allSatisfy { $0 > 20 }, "\(blind)")
  }

  /// Probes that are answered until the balancer is told to be silent.
  private func answering(
    among replicas: [String],
    _ load: @escaping @Sendable (String) -> ReplicaLoad
  ) throws -> (balancer: LoadBalancer<String>, silence: () -> Void) {
    let silence = Log<Void>()
    let probe: LoadBalancer<String>.Probe = { replica in
      if silence.count > 0 { return Empty(completeImmediately: false).eraseToAnyPublisher() }
      return Just(load(replica)).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }
    return (try balancer(among: replicas, probe: probe), { silence.write(()) })
  }

  @Test func spreadsTheAttemptsBetweenTwoAnswers() throws {
    let (balancer, silence) = try answering(among: ["a", "b"]) { replica in
      ReplicaLoad(requestsInFlight: replica == "a" ? 0 : 1, latency: .milliseconds(50))
    }
    _ = picks(balancer, count: 20)
    silence()
    var picked: [String: Int] = [:]
    let recorders = (0..<10).map { _ in Recorder<Int, any Error>() }
    for recorder in recorders {
      let attempt = balancer.makeCall().publisher(time: time) { replica in
        picked[replica, default: 0] += 1
        return Answer()
      }
      attempt.subscribe(recorder)
    }
    #expect(picked.count == 2 && picked.values.allSatisfy { $0 > 2 }, "\(picked)")
  }

  @Test func forgetsTheAnswersOfReplicasThatAreReplacedByFewer() throws {
    let (balancer, silence) = try answering(among: ["a", "b", "c"]) { _ in
      ReplicaLoad(requestsInFlight: 0, latency: .milliseconds(50))
    }
    _ = picks(balancer, count: 20)
    silence()
    try balancer.replaceReplicas(by: ["d", "e"])
    let found = picks(balancer, count: 20)
    expectEqual(Set(found.keys), ["d", "e"], "\(found)")
  }

  @Test func doesNotGoByAnswersOfWhoFailsAProbe() throws {
    let isDown = Locked(false)
    let probe: LoadBalancer<String>.Probe = { replica in
      if isDown.withLock({ $0 }) { return Fail(error: TestFailure.transient as any Error).eraseToAnyPublisher() }
      let load = ReplicaLoad(requestsInFlight: 0, latency: replica == "a" ? .zero : .milliseconds(50))
      return Just(load).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }
    let balancer = try balancer(probe: probe)
    _ = picks(balancer, count: 20)
    #expect(picks(balancer, count: 100, latency: { _ in .milliseconds(1) })["a", default: 0] > 50)
    isDown.withLock { $0 = true }
    _ = picks(balancer, count: 10)
    let blind = picks(balancer, count: 300)
    #expect(blind.values.allSatisfy { $0 > 60 }, "\(blind)")
  }

  @Test func countsFailuresAgainstAReplicaThatSaysItIsWell() throws {
    let load = ReplicaLoad(requestsInFlight: 0, latency: .milliseconds(20))
    let balancer = try probed(["a": load, "b": load, "c": load])
    _ = picks(balancer, count: 20, fails: { $0 == "b" })
    #expect(picks(balancer, count: 100, fails: { $0 == "b" })["b", default: 0] <= 2)
  }

  @Test func asksAReplicaOnceAlsoWhereAnotherAttemptBeginsWhileItIsBeingAsked() throws {
    let (asked, cancelled) = (Log<String>(), Log<String>())
    let others = Locked<(@Sendable () -> Void)?>(nil)
    let balancer = try balancer(
      among: ["a"],
      probe: { replica in
        asked.write(replica)
        // The attempt of somebody else, on another thread perhaps.
        let other = others.exchange(nil)
        other?()
        return Empty<ReplicaLoad, any Error>(completeImmediately: other != nil)
          .handleEvents(receiveCancel: { cancelled.write(replica) })
          .eraseToAnyPublisher()
      }
    )
    let (call, time) = (balancer.makeCall(), time)
    others.withLock { $0 = { call.publisher(time: time) { _ in Answer() }.subscribe(Recorder<Int, any Error>()) } }
    attempt(balancer)
    expectEqual(asked.entries, ["a"])
    // That one has been answered, so the next attempt asks again.
    attempt(balancer)
    expectEqual(asked.entries, ["a", "a"])
    // And again once that question has grown too old, which then ends.
    scheduler.advance(by: .seconds(2))
    attempt(balancer)
    expectEqual(asked.entries.count, 3)
    expectEqual(cancelled.entries, ["a"])
    attempt(balancer)
    expectEqual(asked.entries.count, 3)
  }

  @Test func letsItsProbesGo() throws {
    let cancelled = Log<String>()
    let probe: LoadBalancer<String>.Probe = { replica in
      Answer().map { _ in ReplicaLoad(requestsInFlight: 0, latency: .zero) }
        .handleEvents(receiveCancel: { cancelled.write(replica) })
        .eraseToAnyPublisher()
    }
    var balancer: LoadBalancer<String>? = try balancer(probe: probe)
    weak let weakBalancer = balancer
    if let balancer { for _ in 0..<10 { attempt(balancer) } }
    try balancer?.replaceReplicas(by: ["b", "c"])
    expectEqual(cancelled.entries, ["a"])
    balancer = nil
    #expect(weakBalancer == nil)
    expectEqual(cancelled.entries.sorted(), ["a", "b", "c"])
  }

  // MARK: Code of others

  @Test func drawsFromASourceOfChanceThatAsksTheBalancer() throws {
    let held = Locked<LoadBalancer<String>?>(nil)
    let draws = Log<[String]>()
    let random = RandomSource {
      draws.write(held.withLock { $0 }?.replicas ?? [])
      return 0.5
    }
    let load = ReplicaLoad(requestsInFlight: 0, latency: .zero)
    let probe: LoadBalancer<String>.Probe = { _ in
      Just(load).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }
    let balancer = try LoadBalancer("weather", among: (0..<30).map { "\($0)" }, random: random, probe: probe)
    held.withLock { $0 = balancer }
    let found = picks(balancer, count: 100)
    #expect(found.values.reduce(0, +) == 100 && found.count > 5, "\(found)")
    expectEqual(draws.entries, [[]])
    _ = held.exchange(nil)
  }

  @Test func picksTheSameWithTheSameChance() throws {
    func picked() throws -> [String] {
      let balancer = try balancer(among: (0..<50).map { "\($0)" })
      return (0..<50).map { _ in attempt(balancer) }
    }
    try expectEqual(picked(), picked())
  }

  @Test func replacesReplicasWhoseHashAndEndAskTheBalancer() throws {
    let held = Locked<LoadBalancer<CuriousReplica>?>(nil)
    let (time, looks) = (time, Log<Int>())
    let look: @Sendable () -> Void = {
      guard let balancer = held.withLock({ $0 }) else { return }
      looks.write(balancer.snapshots(on: time).count)
    }
    let balancer = try LoadBalancer(
      "weather",
      among: ["a", "b", "c"].map { CuriousReplica($0, look) },
      random: .seeded(7)
    )
    held.withLock { $0 = balancer }
    try balancer.replaceReplicas(by: ["b"].map { CuriousReplica($0, look) })
    expectEqual(balancer.replicas.map(\.name), ["b"])
    // Three are hashed when those before are looked up, and the three have ended when there is only one.
    #expect(looks.entries.contains(3))
    expectEqual(looks.entries.suffix(3), [1, 1, 1])
    _ = held.exchange(nil)
  }

  @Test(arguments: 0...6)
  func keepsWhatIsKnownOfAReplicaThoughOthersComeWhileItIsLookedUp(hashes: Int) throws {
    let held = Locked<LoadBalancer<CuriousReplica>?>(nil)
    let countdown = Locked(Int.max)
    let look: @Sendable () -> Void = {
      let isDue = countdown.withLock { countdown in
        countdown -= 1
        return countdown == 0
      }
      let others = ["b", "d"].map { CuriousReplica($0) {} }
      if isDue { try? held.withLock { $0 }?.replaceReplicas(by: others) }
    }
    let balancer = try LoadBalancer("weather", among: ["a", "b"].map { CuriousReplica($0, look) }, random: .seeded(7))
    held.withLock { $0 = balancer }
    let open = Answer()
    let recorders = [Recorder<Int, any Error>(), Recorder<Int, any Error>()]
    for recorder in recorders { balancer.makeCall().publisher(time: time) { _ in open }.subscribe(recorder) }
    expectEqual(balancer.snapshots(on: time).map(\.requestsInFlight), [1, 1])
    countdown.withLock { $0 = hashes }
    try balancer.replaceReplicas(by: ["c", "b"].map { CuriousReplica($0, look) })
    countdown.withLock { $0 = .max }
    let snapshots = balancer.snapshots(on: time)
    expectEqual(snapshots.map(\.replica.name), ["c", "b"])
    expectEqual(snapshots.map(\.requestsInFlight), [0, 1])
    open.send(completion: .finished)
    expectEqual(balancer.snapshots(on: time).map(\.requestsInFlight), [0, 0])
    _ = held.exchange(nil)
  }

  // MARK: Use

  @Test func givesEveryPlaceBackUnderConcurrentUse() async throws {
    let balancer = try balancer(among: (0..<20).map { "\($0)" })
    let places = Log<String>()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          for attempt in 0..<500 {
            _ = try? await balancer.makeCall().run { replica in
              places.write(replica)
              if (attempt + number) % 3 == 0 { throw TestFailure.transient }
            }
            if attempt % 100 == 0 {
              try? balancer.replaceReplicas(by: (0..<20).map { "\($0)" })
            }
          }
        }
      }
    }
    #expect(balancer.snapshots().allSatisfy { $0.requestsInFlight == 0 })
    expectEqual(places.entries.count, 4_000)
  }

  @Test func tellsItsGaugeHowManyAttemptsAreUnderWay() throws {
    let balancer = try balancer(among: ["a", "b"])
    let recorder = Recorder<Int, any Error>()
    let open = Answer()
    balancer.makeCall().publisher(time: time) { _ in open }.subscribe(recorder)
    let reading = try #require(balancer.reading)
    expectEqual(reading.measurements.map(\.value), [1, 1])
    #expect(reading.description.contains("1 in flight"))
  }

  @Test func refusesNumbersThatMakeNoSense() {
    #expect(throws: InvalidPolicy.self) { try LoadBalancerPolicy(hotQuantile: 1.1) }
    #expect(throws: InvalidPolicy.self) { try LoadBalancerPolicy(hotQuantile: .nan) }
    #expect(throws: InvalidPolicy.self) { try LoadBalancerPolicy(memory: .zero) }
    #expect(throws: InvalidPolicy.self) { try LoadBalancerPolicy(failureLatency: .seconds(-1)) }
    #expect(throws: InvalidPolicy.self) { try LoadBalancerPolicy(probesPerAttempt: 0) }
    #expect(throws: InvalidPolicy.self) { try LoadBalancerPolicy(maxProbeAge: .zero) }
    #expect(throws: InvalidPolicy.self) { try LoadBalancerPolicy(maxCandidates: 1) }
    let standard = try? LoadBalancerPolicy()
    expectEqual(standard, .standard)
  }
}

/// A replica that calls somebody when it is hashed, and when nobody holds it any more.
private final class CuriousReplica: Hashable, Sendable {
  let name: String
  private let look: @Sendable () -> Void

  init(_ name: String, _ look: @escaping @Sendable () -> Void) {
    self.name = name
    self.look = look
  }

  deinit { look() }

  static func == (one: CuriousReplica, other: CuriousReplica) -> Bool { one.name == other.name }

  func hash(into hasher: inout Hasher) {
    look()
    hasher.combine(name)
  }
}

/// Cancels as soon as it has its subscription.
private final class LeavingSubscriber<Input, Failure: Error>: Subscriber {
  private(set) var isSubscribed = false

  func receive(subscription: any Subscription) {
    isSubscribed = true
    subscription.cancel()
  }

  func receive(_ input: Input) -> Subscribers.Demand { .none }
  func receive(completion: Subscribers.Completion<Failure>) {}
}
