#if !canImport(Darwin)
  import Combine
  import Rebound
  import ReboundTesting
  import Testing

  /// Makes a call again, for as long as it fails.
  struct Insist: Policy {
    var descriptor: StageDescriptor { StageDescriptor(PolicyKind("insist")) }

    var traits: StageTraits {
      var traits = StageTraits(descriptor: descriptor)
      (traits.retries, traits.isForAllFailures) = (true, true)
      return traits
    }

    func makeMachine(_ execution: ExecutionContext) -> Machine { Machine() }

    struct Machine: PolicyMachine {
      mutating func failed(with error: any Error, _ execution: ExecutionContext) -> Decision<any Error> {
        .wait(.seconds(1))
      }
    }
  }

  /// The code of Sources/Rebound/Rebound.docc/A-policy-of-your-own.md, as it stands there.
  @Suite("The code of the article on a policy of one's own")
  struct OwnPolicyArticleTests {
    private struct Service {
      func forecast() async throws -> String { "sun" }
    }

    @Test("has all forms, and is told, read and refused like those of the package")
    func forms() async throws {
      var subscriptions: Set<AnyCancellable> = []
      var answers: [String] = []
      var log: [String] = []
      let scheduler = TestScheduler()
      let service = Service()
      let events = PolicyEvents()
      let request = Just("rain").setFailureType(to: (any Error).self)

      let throttle = ThrottleByKey(every: .seconds(1), longestWait: .seconds(2))

      request
        .protected(by: throttle["Rome"], time: scheduler.time)  // no time is said in the program
        .sink(receiveCompletion: { _ in }, receiveValue: { answers.append($0) })
        .store(in: &subscriptions)
      #expect(answers == ["rain"])

      scheduler.advance(by: .seconds(1))
      try await TimeSource.$current.withValue(scheduler.time) {
        let forecast = try await throttle["Rome"].run { try await service.forecast() }
        #expect(forecast == "sun")
      }
      scheduler.advance(by: .seconds(1))

      let weather = try Pipeline<String>("weather", events: events, time: scheduler.time) {
        Retry(RetryPolicy(clamping: 1, backoff: .constant(.zero)))
        throttle["Rome"]
      }
      events.filter { $0.kind == ThrottleByKey.kind }.sink { log.append("\($0)") }.store(in: &subscriptions)
      for _ in 1...4 {
        request.protected(by: weather)
          .sink(receiveCompletion: { _ in }, receiveValue: { answers.append($0) })
          .store(in: &subscriptions)
      }
      scheduler.advance(by: .seconds(3))
      #expect(answers.count == 5)
      #expect(
        log == [
          "weather: throttle: waits, 1.0 seconds before its turn",
          "weather: throttle: waits, 2.0 seconds before its turn",
          "weather: throttle: refused, 3.0 seconds before its turn",
        ]
      )
      #expect(events.gauges.map { "\($0)" } == ["weather: throttle: 1 keys"])
    }

    @Test("is held to what it says of itself")
    func rules() {
      #expect(throws: InvalidPipeline.self) {
        try Pipeline<String>("weather", repetition: .harmful) { Insist() }
      }
    }
  }
#endif
